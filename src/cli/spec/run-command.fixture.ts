import { expect } from "vitest";
import type { CliContext } from "../cli-context.ts";
import { runInProcess, type ProcessResult } from "../cli-process.contract.ts";

type CliContextOverrides = Partial<Pick<CliContext, "env" | "cwd" | "stdin" | "isInteractive">>;

/** Any text that says something. */
export const ANY_TEXT = expect.stringMatching(/\S/) as string;

/** What a command says, and that it ends well. */
export async function runSuccessfully(
  args: readonly string[],
  world?: CliContextOverrides,
): Promise<ProcessResult> {
  const ended = await runInProcess(args, world);
  // With all that it said, for whoever reads of the failure.
  expect(ended).toMatchObject({ code: 0 });
  return ended;
}

/** The one document of a command. */
export async function runForJson<T>(args: readonly string[], world?: CliContextOverrides): Promise<T> {
  return JSON.parse((await runSuccessfully([...args, "-o", "json"], world)).out) as T;
}

/** The lines of a command that streams. */
export async function runForJsonLines<T>(args: readonly string[], world?: CliContextOverrides): Promise<T[]> {
  const { out } = await runSuccessfully([...args, "--stream", "-o", "json"], world);
  return parseJsonLines(out);
}

export function parseJsonLines<T>(out: string): T[] {
  return out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as T);
}

interface ErrorEnvelope {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly hint: string | null;
    readonly a2aCode: number | null;
  };
}

/** What a command that fails says of it, with its exit code. */
export async function runExpectingError(
  args: readonly string[],
  world?: CliContextOverrides,
): Promise<ErrorEnvelope["error"] & { readonly exit: number | null }> {
  const { code: exit, out } = await runInProcess([...args, "-o", "json"], world);
  return { ...(JSON.parse(out) as ErrorEnvelope).error, exit };
}

/** The fields of text, `Label: value`, the last of each. */
export function parseFields(out: string): Record<string, string> {
  return Object.fromEntries(
    [...out.matchAll(/^([A-Z][A-Za-z ]*): (.*)$/gm)].map(([, label, value]) => [label, value]),
  );
}
