import { expect } from "vitest";
import type { CliContext } from "../cli-context.ts";
import { runCliInTestProcess, type CliTestProcessResult } from "../cli-test-process.fixture.ts";

type CliTestContextOverrides = Partial<Pick<CliContext, "env" | "cwd" | "stdin" | "isInteractive">>;

/** Matches any non-empty text. */
export const ANY_NON_EMPTY_TEXT = expect.stringMatching(/\S/) as string;

/** Runs a command, and expects success. Returns its output. */
export async function runCliExpectingSuccess(
  args: readonly string[],
  overrides?: CliTestContextOverrides,
): Promise<CliTestProcessResult> {
  const ended = await runCliInTestProcess(args, overrides);
  // Compares the complete result, so that a failure message includes the output.
  expect(ended).toMatchObject({ code: 0 });
  return ended;
}

/** Runs a command and parses its only JSON document. */
export async function runCliForJson<T>(
  args: readonly string[],
  overrides?: CliTestContextOverrides,
): Promise<T> {
  return JSON.parse((await runCliExpectingSuccess([...args, "-o", "json"], overrides)).out) as T;
}

/** Runs a streaming command and parses its JSON lines. */
export async function runCliStreamForJsonLines<T>(
  args: readonly string[],
  overrides?: CliTestContextOverrides,
): Promise<T[]> {
  const { out } = await runCliExpectingSuccess([...args, "--stream", "-o", "json"], overrides);
  return parseJsonLines(out);
}

export function parseJsonLines<T>(out: string): T[] {
  return out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as T);
}

interface CliErrorEnvelope {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly hint: string | null;
    readonly a2aCode: number | null;
  };
}

/** Runs a command, and expects an error. Returns the error and the exit code. */
export async function runCliExpectingError(
  args: readonly string[],
  overrides?: CliTestContextOverrides,
): Promise<CliErrorEnvelope["error"] & { readonly exit: number | null }> {
  const { code, out } = await runCliInTestProcess([...args, "-o", "json"], overrides);
  return { ...(JSON.parse(out) as CliErrorEnvelope).error, exit: code };
}

/** Parses text output into fields (`Label: value`). For repeated labels the last value counts. */
export function parseLabeledCliOutputFields(out: string): Record<string, string> {
  return Object.fromEntries(
    [...out.matchAll(/^([A-Z][A-Za-z ]*): (.*)$/gm)].map(([, label, value]) => [label, value]),
  );
}
