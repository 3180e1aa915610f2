// Runs the hooks of a folder by Cursor's own code: its SDK loads the files, fits the matchers, starts the commands and
// reads their answers. That code is exported nowhere, so that it is found by its words and handed out of a copy.
//
//   node drive.mjs SDK FOLDER < [{ "step": "preToolUse", "request": { … }, "stdin": false }, …]
//
// Prints what was loaded and the answers, as JSON.
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

async function input() {
  let all = "";
  for await (const part of process.stdin.setEncoding("utf8")) all += part;
  return all;
}

const [sdk, root] = process.argv.slice(2).map((path) => resolve(path));
const text = readFileSync(join(sdk, "dist/bundled/index.js"), "utf8");
const runtime = text.match(/async function ([\w$]+)\(\$,J=\{\}\)\{let Z=await new [\w$]+\(new [\w$]+,[\w$]+\(\$,J\)\)\.load\(\)/);
const prepare = text.match(/([\w$]+)=[\w$]+\(\(\)=>\{(?:[\w$]+\(\);)*[\w$]+=\{cursor_version:process\.env/);
if (!runtime || !prepare) throw new Error("this version of the SDK is not known");

const place = mkdtempSync(join(tmpdir(), "cursor-hooks-"));
try {
  symlinkSync(dirname(dirname(sdk)), join(place, "node_modules"));
  const copy = join(place, "sdk.mjs");
  // Made for another runtime, whose database nothing here uses.
  const own = text
    .replace('from"bun:sqlite"', 'from"data:text/javascript,export class Database{}"')
    .replace("import.meta.require", '(await import("node:module")).createRequire(import.meta.url)');
  writeFileSync(copy, `${own}\n;${prepare[1]}();export { ${runtime[1]} as hooks };\n`);
  const { hooks } = await import(pathToFileURL(copy));
  const answers = [];
  let loaded;
  for (const { step, request, stdin } of JSON.parse(await input())) {
    const state = { projectRoot: root, workspaceRoots: [root] };
    const options = { includeUserHooks: false, includeEnterpriseHooks: false, useCommandHookStdinTransport: stdin };
    const made = await hooks(state, options);
    loaded = made.hooksConfig;
    const { hookExecutor } = made.createSessionRuntime();
    const base = { conversation_id: "c1", generation_id: "g1", model: "m" };
    answers.push((await hookExecutor.executeHookForStep(step, { ...base, ...request })) ?? null);
  }
  process.stdout.write(JSON.stringify({ loaded, answers }, null, 1));
} finally {
  rmSync(place, { recursive: true });
}
