import { fuzzClient } from "./fuzz-client.ts";
import { fuzzGrpc } from "./fuzz-grpc.ts";
import { fuzzCommandLine, fuzzFiles } from "./fuzz-programs.ts";
import type { FuzzOptions, FuzzResult } from "./fuzz-result.ts";
import { fuzzServer } from "./fuzz-server.ts";

/** A fuzzer, with the number of inputs of the long run and of the tests. */
export interface Fuzzer {
  readonly run: (options: FuzzOptions) => Promise<FuzzResult>;
  readonly count: number;
  readonly testCount: number;
}

export const FUZZERS: Readonly<Record<FuzzResult["name"], Fuzzer>> = {
  server: { run: fuzzServer, count: 200_000, testCount: 250 },
  grpc: { run: fuzzGrpc, count: 30_000, testCount: 60 },
  client: { run: fuzzClient, count: 50_000, testCount: 80 },
  files: { run: fuzzFiles, count: 2000, testCount: 6 },
  cli: { run: fuzzCommandLine, count: 2000, testCount: 6 },
};
