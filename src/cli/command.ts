import type { Command } from "commander";
import { A2AError } from "../protocol/index.ts";
import { applySettings, cautionsOf, keepCredentials } from "./apply-settings.ts";
import type { Context } from "./context.ts";
import { commandLine } from "./invocation.ts";
import { addClientOptions, type ClientOptions } from "./options.ts";
import { Output } from "./output.ts";
import { Problem, toProblem } from "./problem.ts";
import { CREDENTIALS } from "./redact.ts";
import { readSettings } from "./settings.ts";
import { openCard, takeAgent, type TargetCard } from "./card-target.ts";
import type { Target } from "./target.ts";

/** What the work of a command that is about an agent is given. */
interface Asked<O extends ClientOptions> {
  /** The words of the command line behind the agent. */
  readonly words: readonly string[];
  readonly options: O;
  readonly output: Output;
}

export type Call<O extends ClientOptions> = Asked<O> & Target;

/**
 * A command that talks to an agent: takes the agent from the command line, finds its card, and reports what goes wrong
 * as problems. `words` is how the arguments behind the agent are shown in the help.
 */
export function clientCommand<O extends ClientOptions>(
  command: Command,
  words: string,
  context: Context,
  work: (call: Call<O>) => Promise<void>,
): Command {
  const open = async (ref: string, options: O, world: Context): Promise<Target> => {
    // All that speaks with agents; who only looks at a card does not wait for it.
    const { openTarget } = await import("./target.ts");
    return openTarget(ref, options, world);
  };
  return agentCommand(command, words, context, open, work);
}

/** A command that only looks at an agent's card: whether it could talk to the agent does not matter. */
export function cardCommand<O extends ClientOptions>(
  command: Command,
  context: Context,
  work: (call: Asked<O> & TargetCard) => void | Promise<void>,
  open: (ref: string, options: O, context: Context) => Promise<TargetCard> = openCard,
): Command {
  return agentCommand(command, "", context, open, work);
}

function agentCommand<O extends ClientOptions, T>(
  command: Command,
  words: string,
  context: Context,
  open: (ref: string, options: O, context: Context) => Promise<T>,
  work: (call: Asked<O> & T) => void | Promise<void>,
): Command {
  return addClientOptions(command)
    .usage(`<agent> ${words}[options]`)
    .argument("[words...]")
    .action(async (given: string[], said: O, self: Command) => {
      const settings = readSettings(said.config, context);
      applySettings(self, settings);
      const options = self.opts<O>();
      const isSaid = self.getOptionValueSource("agentCard") === "cli";
      const { ref, rest } = takeAgent(given, options, isSaid);
      const isNamed = isSaid || rest.length < given.length;
      if (!isNamed) keepCredentials(self, settings);
      const { stream: lines = false, verbose = false } = options;
      const output = new Output(context.streams, options.output, { lines, verbose });
      for (const caution of cautionsOf(self, settings)) output.warning(caution);
      if (options.insecure) output.warning(dangerOf(options));
      try {
        const target = await open(ref, options, context);
        await work({ ...target, words: rest, options, output });
      } catch (error) {
        throw problemOf(error, ref, options);
      }
    });
}

/** The one id that a command wants. */
export function onlyId(words: readonly string[]): string {
  const [id, ...more] = words;
  if (id !== undefined && more.length === 0) return id;
  throw new Problem(
    "A2ACLI_ERR_USAGE",
    id === undefined ? "Name the task by its id." : "Name one task only.",
  );
}

/** The user or `--timeout` ended the waiting, not the task: `resume` is the command that goes on with it. */
export function gaveUp(call: Call<ClientOptions>, error: unknown, resume: string): unknown {
  if (isTimeout(error)) return timeoutProblem(error, call.options, resume);
  call.output.hint(`the task goes on: ${resume}`);
  return error;
}

function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === "TimeoutError";
}

function timeoutProblem(error: unknown, { timeout }: ClientOptions, hint?: string): Problem {
  const message = `There was no end within ${(timeout ?? 0) / 1000} s.`;
  return new Problem("A2ACLI_ERR_TIMEOUT", message, hint, error);
}

/** Whoever answers may be anybody, and is told what the command line has for the agent. */
function dangerOf(options: ClientOptions): string {
  const what = hasCredentials(options) || options.svcParam ? "; YOUR CREDENTIALS GO TO WHOEVER THAT IS" : "";
  return `--insecure: certificates are not verified, so whoever answers is believed${what}`;
}

function hasCredentials(options: ClientOptions): boolean {
  return CREDENTIALS.some((name) => options[name] !== undefined);
}

function problemOf(error: unknown, ref: string, options: ClientOptions & { taskId?: string }): Problem {
  if (isTimeout(error)) return timeoutProblem(error, options);
  const hint = error instanceof A2AError ? hintFor(error, ref, options) : undefined;
  return toProblem(error, { hasCredentials: hasCredentials(options), ...(hint ? { hint } : {}) });
}

function hintFor(
  { reason }: A2AError,
  ref: string,
  options: ClientOptions & { taskId?: string },
): string | undefined {
  // The secret goes nowhere only because a card says so.
  if (reason === "UNAUTHENTICATED" && options.oauthClient !== undefined && options.oauthIssuer === undefined)
    return "If you know the server that your client's secret is for, name it: --oauth-issuer.";
  if (reason === "VERSION_NOT_SUPPORTED" && options.a2aVersion === undefined)
    return "If the agent speaks 0.3 only: --a2a-version 0.3.";
  const list = reason === "TASK_NOT_FOUND" ? commandLine("task", "list", ref) : undefined;
  if (options.taskId === undefined) return list;
  const debug = "No other task was begun; --debug shows what the agent answered.";
  return list === undefined ? debug : `${list} shows the tasks that there are. ${debug}`;
}
