import { Console } from "node:console";
import { Command, CommanderError } from "commander";
import { COMMANDS, LOOKS_AT_ALL, type Commands } from "./commands.ts";
import type { Context } from "./context.ts";
import { Output, type Format, type Streams } from "./output.ts";
import { Problem, toProblem } from "./problem.ts";
import { readSettings } from "./settings.ts";
import { Verdict } from "./verdict.ts";
import { ABOUT, packageVersion } from "./version.ts";

/** Runs the command line; answers the exit code. */
export async function run(argv: readonly string[], context: Context): Promise<number> {
  try {
    const words = argv[0] === "help" ? helpFor(argv.slice(1)) : argv;
    const called = LOOKS_AT_ALL.has(words[0] ?? "") ? "all" : words;
    await (await programFor(called, context)).parseAsync(words, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    if (context.interrupted.aborted) return 130;
    if (error instanceof Verdict) return error.exitCode;
    const problem = error instanceof CommanderError ? usage(error) : toProblem(error);
    const lines = argv.includes("--stream");
    new Output(context.streams, formatOf(argv, context), { lines }).problem(problem);
    return problem.exitCode;
  }
}

/** `help task get` is `task get --help`; what is no command is an error, which `--help` would hide. */
function helpFor(words: readonly string[]): readonly string[] {
  let commands: Commands = COMMANDS;
  for (const word of words) {
    const entry = Object.hasOwn(commands, word) ? commands[word] : undefined;
    if (!entry) return words;
    commands = "commands" in entry ? entry.commands : {};
  }
  return [...words, "--help"];
}

/** The program with the commands that `words` call; of all others it knows the names and what they do. */
async function programFor(words: readonly string[] | "all", context: Context): Promise<Command> {
  const program = new Command("colloquy")
    .description(ABOUT)
    .version(packageVersion(), "-v, --version", "print the version");
  await addCommands(program, COMMANDS, words, context);
  prepare(program, context.streams);
  return program;
}

async function addCommands(
  parent: Command,
  commands: Commands,
  words: readonly string[] | "all",
  context: Context,
): Promise<void> {
  for (const [name, entry] of Object.entries(commands)) {
    const isCalled = words === "all" || words[0] === name;
    const isLoaded = isCalled && "load" in entry;
    const command = isLoaded ? (await entry.load())(context) : new Command(name);
    if ("commands" in entry) {
      const rest = words === "all" ? words : isCalled ? words.slice(1) : [];
      await addCommands(command, entry.commands, rest, context);
    }
    parent.addCommand(command.description(entry.about));
  }
}

/** Commander prints and exits by itself unless every command is told not to. */
function prepare(command: Command, streams: Streams): void {
  command.exitOverride();
  command.configureOutput({ writeOut: (text) => streams.out(text), writeErr: () => {} });
  command.configureHelp({ subcommandTerm: (child) => child.name() });
  command.showSuggestionAfterError();
  for (const child of command.commands) prepare(child, streams);
}

function usage(error: CommanderError): Problem {
  // Asked for nothing: commander has shown the help as an error.
  if (error.code === "commander.help")
    return new Problem("A2ACLI_ERR_USAGE", "Name a command.", "colloquy --help");
  const message = error.message.replace(/^error: /, "").replaceAll("\n", " ");
  return new Problem(
    "A2ACLI_ERR_USAGE",
    message,
    "colloquy --help shows the commands, colloquy <command> --help the flags.",
  );
}

/** The format is needed before the command line is understood: its errors are reported in it too. */
function formatOf(argv: readonly string[], context: Context): Format {
  if (argv.includes("--json")) return "json";
  const said = valueOf(argv, "-o", "--output");
  if (said !== undefined) return said === "json" ? "json" : "text";
  try {
    const settings = readSettings(valueOf(argv, "--config"), context);
    return settings.get("A2ACLI_OUTPUT")?.value === "json" ? "json" : "text";
  } catch {
    return "text";
  }
}

/** The value of an option as it may be written: `-o json`, `-ojson`, `--output json`, `--output=json`. */
function valueOf(argv: readonly string[], ...names: string[]): string | undefined {
  for (const name of names) {
    const at = argv.indexOf(name);
    if (at >= 0) return argv[at + 1];
    const start = name.startsWith("--") ? `${name}=` : name;
    const joined = argv.find((word) => word.startsWith(start));
    if (joined !== undefined) return joined.slice(start.length);
  }
  return undefined;
}

/** The world as a process has it. */
export function processContext(): Context {
  const interruption = new AbortController();
  let since = 0;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      // The second time the user means it. npm passes on what the terminal has sent already, so two at once are one.
      if (!interruption.signal.aborted) since = Date.now();
      else if (Date.now() - since > 500) process.exit(130);
      interruption.abort();
    });
  }
  // A reader that has seen enough (`| head`) is no failure.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));
  // stdout is for results. What agents print while they are served, and ADK's logger, goes where people look.
  Object.defineProperty(globalThis, "console", {
    get: consoleOnStderr,
    set: keepConsole,
    configurable: true,
  });
  return {
    streams: { out: (text) => process.stdout.write(text), err: (text) => process.stderr.write(text) },
    // Each of the process's streams takes a millisecond to open; most commands do not read.
    get stdin() {
      return process.stdin;
    },
    get interactive() {
      return process.stdin.isTTY && process.stdout.isTTY;
    },
    get columns() {
      return process.stdout.isTTY ? process.stdout.columns : undefined;
    },
    get errColumns() {
      return process.stderr.isTTY ? process.stderr.columns : undefined;
    },
    interrupted: interruption.signal,
    env: process.env,
    cwd: process.cwd(),
  };
}

/** Made when somebody prints something. */
function consoleOnStderr(): Console {
  const own = new Console(process.stderr);
  keepConsole(own);
  return own;
}

function keepConsole(value: Console): void {
  Object.defineProperty(globalThis, "console", { value, configurable: true, writable: true });
}
