import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export const repositoryRoot: string = fileURLToPath(new URL("../..", import.meta.url));

/** Starts the agent under test with the given flags, and runs `work` with its URL. */
export async function withAgentUnderTest<T>(
  flags: readonly string[],
  work: (url: string) => Promise<T>,
): Promise<T> {
  const sut = spawn(process.execPath, ["lab/sut/main.ts", "--port", "0", ...flags], {
    cwd: repositoryRoot,
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    return await work(await readAgentUrlFromOutput(sut));
  } finally {
    sut.kill();
  }
}

/** Reads the URL that the agent under test prints as its only line. */
async function readAgentUrlFromOutput(sut: ChildProcess): Promise<string> {
  if (!sut.stdout) throw new Error("the agent under test has no output");
  for await (const line of createInterface({ input: sut.stdout })) {
    const [url] = /http:\S+/.exec(line) ?? [];
    if (url) return url;
  }
  throw new Error("the agent under test exited before it listened");
}
