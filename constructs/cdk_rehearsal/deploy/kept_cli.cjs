// Loaded before the CDK CLI (node --require): at the end of a command, it waits for the next one rather than exit.
// The start of the CLI takes longer than most commands. What is run, is the function that the program itself calls.
const NAME = "CDK_REHEARSAL_KEPT";
const options = process.env[NAME];
const kept = options !== undefined && /[/\\]cdk(\.js)?$/.test(process.argv[1] ?? "");
// Other programs that the CLI starts exit as always.
delete process.env[NAME];
if (options) process.env.NODE_OPTIONS = options;
else delete process.env.NODE_OPTIONS;
// A quarter of the CPU time of a start; in no variable, for the app that the CLI starts has no use for it.
if (kept) require("node:module").enableCompileCache?.();

function cli() {
  try {
    return process.mainModule.require("../lib").cli;
  } catch {
    return undefined; // a CLI of another layout
  }
}

let rest = "";
function next(text) {
  rest += text;
  const end = rest.indexOf("\n");
  if (end < 0) return;
  const { args, folder, environment } = JSON.parse(rest.slice(0, end));
  rest = rest.slice(end + 1);
  process.stdin.off("data", next).pause().unref();
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
  process.chdir(folder);
  cli()(args);
}

if (kept)
  process.on("beforeExit", () => {
    if (process.stdin.readableEnded || typeof cli() !== "function") return;
    process.stdout.write(`\0${process.exitCode ?? 0}\n`);
    process.exitCode = 0;
    process.stdin.setEncoding("utf-8").on("data", next).ref().resume();
  });
