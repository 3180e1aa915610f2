// Loads a plugin as its host does, and does to it what its host does: a line of JSON on standard input for each step, an
// answer for each on standard output.
import readline from "node:readline"
import { pathToFileURL } from "node:url"

const module = await import(pathToFileURL(process.argv[2]).href)
// Every export is taken for a plugin.
const hooks = []
for (const plugin of new Set(Object.values(module))) hooks.push(await plugin({ directory: process.argv[3] }))

const call = async (name, ...args) => {
  for (const own of hooks) await own[name]?.(...args)
}
for await (const line of readline.createInterface({ input: process.stdin })) {
  const step = JSON.parse(line)
  try {
    if (step.event) await call("event", { event: step.event })
    if (step.params) await call("chat.params", step.params, {})
    if (step.before) await call("tool.execute.before", step.before, { args: step.args })
    if (step.after) await call("tool.execute.after", { ...step.after, args: step.args }, step.result)
    console.log(JSON.stringify({ result: step.result ?? null }))
  } catch (error) {
    console.log(JSON.stringify({ error: error.message }))
  }
}
