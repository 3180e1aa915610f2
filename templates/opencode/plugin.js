{% if guard %}
// {{ guard.notice }}
// Asks `rolecast guard` before a tool runs. A plugin refuses by an error, and the model is told its text: whatever goes
// wrong here is a refusal of the tools that are watched, and of no others.
import { spawn } from "node:child_process"

const TOOLS = new Set({{ guard.tools | json }})
const ROLES = new Set({{ guard.roles | json }})
const MISSING = {{ guard.missing | json }}
// Milliseconds, of a program that gives up by itself after 4000.
const MOST = 10000

const refusal = (why) => new Error({{ guard.refused | json }} + why)

// Runs the guard; an exit code that is none stands for a program that was ended.
const guard = (folder, words, question) =>
  new Promise((done, failed) => {
    const child = spawn("rolecast", ["guard", ...words, "--host", {{ guard.host | json }}], {
      cwd: folder,
      timeout: MOST,
      killSignal: "SIGKILL",
      windowsHide: true,
    })
    const said = { out: "", err: "" }
    child.stdout.setEncoding("utf8").on("data", (text) => (said.out += text))
    child.stderr.setEncoding("utf8").on("data", (text) => (said.err += text))
    child.on("error", failed)
    child.on("close", (code) => done({ code, ...said }))
    // Whoever refuses early does not read to the end.
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(question))
  })

// By session, the last message of a person or a parent, and the one that a call stands in: they say which agent calls,
// and the message before what was used.
const tasks = new Map()
const messages = new Map()
const windows = new Map()
const agent = (message) => (ROLES.has(message.agent) ? message.agent : undefined)

const note = (message) => {
  if (message?.role === "user") tasks.set(message.sessionID, { id: message.id, agent: message.agent })
  if (message?.role !== "assistant") return
  const { total, input = 0, output = 0, cache } = message.tokens ?? {}
  const used = total || input + output + (cache?.read ?? 0) + (cache?.write ?? 0)
  const known = messages.get(message.sessionID)
  const task = tasks.get(message.sessionID)
  // A summary is told of everything that it takes the place of.
  messages.set(message.sessionID, {
    // Where a person's command starts an agent, the message has that agent's name and is not its.
    agent: (task?.id === message.parentID && task?.agent) || message.agent,
    model: `${message.providerID}/${message.modelID}`,
    used: message.summary ? 0 : used || known?.used || 0,
  })
}

const decide = async (folder, { tool, sessionID }, args) => {
  const message = messages.get(sessionID)
  if (typeof message?.agent !== "string") throw refusal("the policy's guard was not told which agent calls, so nothing can be decided")
  const question = { session_id: sessionID, agent_type: agent(message), cwd: folder, tool_name: tool, tool_input: args }
  const { code, out, err } = await guard(folder, [], question).catch((error) => {
    throw error?.code === "ENOENT" ? new Error(MISSING) : refusal(`the policy's guard cannot be started: ${error}`)
  })
  if (code === 0 && out === "") return
  if (code === 2 && err.startsWith({{ guard.refused | json }})) throw new Error(err.trim())
  throw refusal(`the policy's guard failed, so nothing can be decided: exit code ${code}`)
}
{% if guard.context %}

const asked = new Map()

// The line about the context, where there is a new one.
const tell = async (folder, { sessionID }, result) => {
  const { model, used, ...message } = messages.get(sessionID) ?? {}
  const window = windows.get(model)
  if (!used || !window || asked.get(sessionID) === used) return
  asked.set(sessionID, used)
  const question = { hook_event_name: "PostToolUse", session_id: sessionID, agent_id: agent(message), used, window }
  const { code, out } = await guard(folder, ["--context"], question)
  const line = code === 0 && out !== "" && JSON.parse(out).hookSpecificOutput?.additionalContext
  if (!line) return
  if (typeof result.output === "string") result.output += `\n\n${line}`
  else result.content?.push({ type: "text", text: line })
}
{% endif %}

export const Rolecast = async ({ directory }) => ({
  event: async ({ event }) => {
    if (event.type === "message.updated") note(event.properties.info)
  },
{% if guard.context %}
  "chat.params": async ({ model }) => {
    windows.set(`${model?.providerID}/${model?.id}`, model?.limit?.context)
  },
{% endif %}
  "tool.execute.before": async (call, { args }) => {
    if (TOOLS.has(call.tool)) await decide(directory, call, args)
  },
{% if guard.context %}
  "tool.execute.after": async (call, result) => {
    // Nothing is held up by what only tells.
    await tell(directory, call, result).catch(() => {})
  },
{% endif %}
})
{% endif %}
