import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { FuzzedClient } from "./fuzz-client.ts";
import { FuzzGrpcCaller, type FuzzCall } from "./fuzz-grpc.ts";
import { ProgramRunner } from "./fuzz-programs.ts";
import type { FuzzRequest } from "./fuzz-request.ts";
import { FuzzedServer } from "./fuzzed-server.ts";
import type { HostileRound } from "./hostile-answers.ts";
import type { ProgramInput } from "./program-input.ts";

/** An input that a fuzzer found. Each file in `corpus/` contains one. */
export type CorpusEntry = {
  /** File name without the extension. */
  readonly name: string;
  /** What the program did before it was corrected. */
  readonly problem: string;
} & (
  | { readonly fuzzer: "server"; readonly input: FuzzRequest }
  | { readonly fuzzer: "grpc"; readonly input: FuzzCall }
  | { readonly fuzzer: "client"; readonly input: HostileRound }
  | { readonly fuzzer: "files" | "cli"; readonly input: ProgramInput }
);

const CORPUS_FOLDER = join(import.meta.dirname, "../corpus");

export function readCorpus(): CorpusEntry[] {
  return globSync("*.json", { cwd: CORPUS_FOLDER })
    .toSorted()
    .map((file) => ({
      ...(JSON.parse(readFileSync(join(CORPUS_FOLDER, file), "utf8")) as CorpusEntry),
      name: file.replace(/\.json$/, ""),
    }));
}

/** Sends the inputs of the corpus again. Returns the problems by the name of the entry. */
export async function replayCorpus(entries: readonly CorpusEntry[]): Promise<Record<string, string>> {
  const problems: Record<string, string> = {};
  const server = await FuzzedServer.start();
  const grpcCaller = new FuzzGrpcCaller(server);
  const rounds = entries.flatMap((entry) => (entry.fuzzer === "client" ? [entry] : []));
  const client = await FuzzedClient.start((index) => rounds[index]?.input as HostileRound);
  const programs = await ProgramRunner.start();
  try {
    for (const entry of entries) {
      const problem = await findProblem(entry);
      if (problem !== undefined) problems[entry.name] = problem;
    }
    return problems;
  } finally {
    grpcCaller.close();
    await Promise.all([server.stop(), client.stop(), programs.stop()]);
  }

  async function findProblem(entry: CorpusEntry): Promise<string | undefined> {
    if (entry.fuzzer === "server") return await server.findRequestProblem(entry.input);
    if (entry.fuzzer === "grpc")
      return (await grpcCaller.send(entry.input)).problem ?? (await server.takeFaults())[0];
    if (entry.fuzzer !== "client") return (await programs.run(entry.input)).problem;
    const index = rounds.indexOf(entry);
    const [result] = await client.performRounds([index], [entry.input]);
    return result?.problem ?? (await client.takeFaults())[0];
  }
}
