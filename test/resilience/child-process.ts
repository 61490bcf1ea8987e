import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { forkScript } from "../support/fork-script.ts";
import { createTempFolder } from "../support/store-factories.ts";

/** A child process that runs a server, killed at the latest at the end of the test. */
export interface ServerChild {
  readonly child: ChildProcess;
  readonly url: string;
}

/** Starts a script of this folder. Resolves with its first message, which is the URL of a server. */
export async function startChild(script: string, ...args: string[]): Promise<ServerChild> {
  const child = forkScript(new URL(script, import.meta.url), args);
  onTestFinished(() => void child.kill("SIGKILL"));
  const [url] = (await once(child, "message")) as [string];
  return { child, url };
}

/** Runs a script of this folder. Resolves with its exit code and its signal. */
export async function runChild(
  script: string,
  ...args: string[]
): Promise<[code: number | null, signal: string | null]> {
  const child = forkScript(new URL(script, import.meta.url), args);
  onTestFinished(() => void child.kill("SIGKILL"));
  return (await once(child, "exit")) as [number | null, string | null];
}

/** Kills a child process and waits until it has exited. */
export async function killChild({ child }: Pick<ServerChild, "child">): Promise<void> {
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}

/** Creates the path of a database in a temporary folder, which is removed at the end of the test. */
export async function createTempFile(): Promise<string> {
  const { folder, remove } = await createTempFolder();
  onTestFinished(remove);
  return join(folder, "tasks.db");
}
