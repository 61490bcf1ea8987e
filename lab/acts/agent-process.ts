import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Pass } from "./passes.ts";

export const repositoryRoot: string = fileURLToPath(new URL("../..", import.meta.url));

/** Environment variables of a2a-itk that change how the agent under test starts. */
const ENVIRONMENT: Record<Pass, Readonly<Record<string, string>>> = {
  default: {},
  auth: { ITK_ACTS_AUTH: "1" },
  reduced: { ITK_ACTS_REDUCED_CAPABILITIES: "1" },
};

/** Starts the agent under test for one pass, and runs `work` with its URL. */
export async function withAgent<T>(pass: Pass, work: (url: string) => Promise<T>): Promise<T> {
  const agent = spawn(process.execPath, ["lab/sut/main.ts", "--acts", "--port", "0", "--grpc-port", "0"], {
    cwd: repositoryRoot,
    env: { ...process.env, ...ENVIRONMENT[pass] },
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    for await (const line of createInterface({ input: agent.stdout })) {
      const [url] = /http:\S+/.exec(line) ?? [];
      if (url) return await work(url);
    }
    throw new Error("The agent under test exited before it listened.");
  } finally {
    if (agent.exitCode === null) {
      agent.kill();
      await once(agent, "exit");
    }
  }
}
