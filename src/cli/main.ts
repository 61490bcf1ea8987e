import { Console } from "node:console";
import { Command, CommanderError } from "commander";
import { authNewKeyCommand } from "./auth-new-key.ts";
import { cardGetCommand } from "./card-get.ts";
import { cardSignCommand } from "./card-sign.ts";
import { cardValidateCommand } from "./card-validate.ts";
import { cardVerifyCommand } from "./card-verify.ts";
import type { Context } from "./context.ts";
import { demoCommand } from "./demo.ts";
import { Output, type Format, type Streams } from "./output.ts";
import { Problem, toProblem } from "./problem.ts";
import { sendCommand } from "./send.ts";
import { serveCommand } from "./serve.ts";
import { taskCancelCommand } from "./task-cancel.ts";
import { taskGetCommand } from "./task-get.ts";
import { taskListCommand } from "./task-list.ts";
import { taskSubscribeCommand } from "./task-subscribe.ts";
import { packageVersion } from "./version.ts";

/** Runs the command line; answers the exit code. */
export async function run(argv: readonly string[], context: Context): Promise<number> {
  try {
    await program(context).parseAsync(argv, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    if (context.interrupted.aborted) return 130;
    const problem = error instanceof CommanderError ? usage(error) : toProblem(error);
    new Output(context.streams, formatOf(argv)).problem(problem, argv.includes("--stream"));
    return problem.exitCode;
  }
}

function program(context: Context): Command {
  const { streams } = context;
  const program = new Command("colloquy")
    .description("Agents on the A2A network: serve them, and talk to anybody's.")
    .version(packageVersion(), "-v, --version");
  const task = new Command("task").description(
    "Look at tasks, follow and cancel them: get, list, cancel, subscribe.",
  );
  for (const command of [taskGetCommand, taskListCommand, taskCancelCommand, taskSubscribeCommand]) {
    task.addCommand(command(context));
  }
  const card = new Command("card").description("Look at agent cards: get, validate, verify, sign.");
  for (const command of [cardGetCommand, cardValidateCommand, cardVerifyCommand, cardSignCommand]) {
    card.addCommand(command(context));
  }
  const auth = new Command("auth")
    .description("Make credentials for the agents that you serve: new-key.")
    .addCommand(authNewKeyCommand(context));
  for (const command of [serveCommand, sendCommand]) program.addCommand(command(context));
  program.addCommand(task).addCommand(card).addCommand(auth).addCommand(demoCommand(context));
  prepare(program, streams);
  return program;
}

/** Commander prints and exits by itself unless every command is told not to. */
function prepare(command: Command, streams: Streams): void {
  command.exitOverride();
  command.configureOutput({ writeOut: (text) => streams.out(text), writeErr: () => {} });
  command.configureHelp({ subcommandTerm: (child) => `${child.name()} ${child.usage()}` });
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
function formatOf(argv: readonly string[]): Format {
  const at = argv.findIndex((word) => word === "-o" || word === "--output");
  const value = at >= 0 ? argv[at + 1] : argv.find((word) => /^(-o|--output=)json$/.test(word))?.slice(-4);
  return (value ?? process.env["A2ACLI_OUTPUT"]) === "json" ? "json" : "text";
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
  globalThis.console = new Console(process.stderr);
  return {
    streams: { out: (text) => process.stdout.write(text), err: (text) => process.stderr.write(text) },
    stdin: process.stdin,
    interrupted: interruption.signal,
  };
}
