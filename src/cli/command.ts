import type { Command } from "commander";
import { A2AError } from "../protocol/index.ts";
import type { Context } from "./context.ts";
import { commandLine } from "./invocation.ts";
import { addClientOptions, type ClientOptions } from "./options.ts";
import { Output } from "./output.ts";
import { Problem, toProblem } from "./problem.ts";
import { openCard, openTarget, takeAgent, type Target, type TargetCard } from "./target.ts";

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
  return agentCommand(command, words, context, openTarget, work);
}

/** A command that only looks at an agent's card: whether it could talk to the agent does not matter. */
export function cardCommand<O extends ClientOptions>(
  command: Command,
  context: Context,
  work: (call: Asked<O> & TargetCard) => Promise<void>,
): Command {
  return agentCommand(command, "", context, openCard, work);
}

function agentCommand<O extends ClientOptions, T>(
  command: Command,
  words: string,
  context: Context,
  open: (ref: string, options: O, context: Context) => Promise<T>,
  work: (call: Asked<O> & T) => Promise<void>,
): Command {
  return addClientOptions(command)
    .usage(`<agent> ${words}[options]`)
    .argument("[words...]")
    .action(async (given: string[], options: O, self: Command) => {
      const { ref, rest } = takeAgent(given, options, self.getOptionValueSource("agentCard") === "cli");
      const output = new Output(context.streams, options.output);
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

function problemOf(error: unknown, ref: string, options: ClientOptions): Problem {
  if (isTimeout(error)) return timeoutProblem(error, options);
  const { bearer, apiKey, basic, oauthClient } = options;
  const isUnknown = error instanceof A2AError && error.reason === "TASK_NOT_FOUND";
  // The secret goes nowhere only because a card says so.
  const isUnnamed = oauthClient !== undefined && options.oauthIssuer === undefined && isRefusal(error);
  return toProblem(error, {
    hasCredentials: [bearer, apiKey, basic, oauthClient].some((one) => one !== undefined),
    ...(isUnknown && { hint: commandLine("task", "list", ref) }),
    ...(isUnnamed && {
      hint: "If you know the server that your client's secret is for, name it: --oauth-issuer.",
    }),
  });
}

function isRefusal(error: unknown): boolean {
  return error instanceof A2AError && error.reason === "UNAUTHENTICATED";
}
