import { expect } from "vitest";
import type { Context } from "../context.ts";
import { inProcess, type Ended } from "../process.contract.ts";

type World = Partial<Pick<Context, "env" | "cwd" | "stdin" | "interactive">>;

/** Any text that says something. */
export const SOME = expect.stringMatching(/\S/) as string;

/** What a command says, and that it ends well. */
export async function said(args: readonly string[], world?: World): Promise<Ended> {
  const ended = await inProcess(args, world);
  // With all that it said, for whoever reads of the failure.
  expect(ended).toMatchObject({ code: 0 });
  return ended;
}

/** The one document of a command. */
export async function json<T>(args: readonly string[], world?: World): Promise<T> {
  return JSON.parse((await said([...args, "-o", "json"], world)).out) as T;
}

/** The lines of a command that streams. */
export async function lines<T>(args: readonly string[], world?: World): Promise<T[]> {
  const { out } = await said([...args, "--stream", "-o", "json"], world);
  return linesIn(out);
}

export function linesIn<T>(out: string): T[] {
  return out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as T);
}

interface Envelope {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly hint: string | null;
    readonly a2aCode: number | null;
  };
}

/** What a command that fails says of it, with its exit code. */
export async function failure(
  args: readonly string[],
  world?: World,
): Promise<Envelope["error"] & { readonly exit: number | null }> {
  const { code: exit, out } = await inProcess([...args, "-o", "json"], world);
  return { ...(JSON.parse(out) as Envelope).error, exit };
}

/** The fields of text, `Label: value`, the last of each. */
export function fieldsIn(out: string): Record<string, string> {
  return Object.fromEntries(
    [...out.matchAll(/^([A-Z][A-Za-z ]*): (.*)$/gm)].map(([, label, value]) => [label, value]),
  );
}
