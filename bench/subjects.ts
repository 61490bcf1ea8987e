import type { Hosted } from "./host.ts";
import type { Dialect } from "./load/request.ts";
import type { Variant } from "./servers/colloquy.ts";

interface Subject {
  readonly dialect: Dialect;
  /** Called in the subject's own process. Imports late, so that nothing else is loaded there. */
  host(): Promise<Hosted>;
}

export type SubjectName =
  | "floor"
  | "colloquy-memory"
  | "colloquy-memory-unmerged"
  | "colloquy-sqlite"
  | "colloquy-sqlite-unmerged"
  | "colloquy-grpc-memory"
  | "colloquy-grpc-memory-unmerged"
  | "colloquy-grpc-sqlite"
  | "a2a-js-grpc"
  | "colloquy-adk-memory"
  | "colloquy-adk-sqlite"
  | "a2a-js"
  | "adk-toA2a"
  | "adk-runner";

/** Everything that is measured. */
export const SUBJECTS: Record<SubjectName, Subject> = {
  floor: {
    dialect: "floor",
    host: async () => (await import("./servers/floor.ts")).hostFloor(),
  },
  "colloquy-memory": colloquy({ store: "memory" }),
  "colloquy-memory-unmerged": colloquy({ store: "memory", merge: false }),
  "colloquy-sqlite": colloquy({ store: "sqlite" }),
  "colloquy-sqlite-unmerged": colloquy({ store: "sqlite", merge: false }),
  "colloquy-grpc-memory": colloquy({ store: "memory", grpc: true }),
  "colloquy-grpc-memory-unmerged": colloquy({ store: "memory", merge: false, grpc: true }),
  "colloquy-grpc-sqlite": colloquy({ store: "sqlite", grpc: true }),
  "a2a-js-grpc": {
    dialect: "1.0",
    host: async () => (await import("./servers/a2a-js.ts")).hostA2aJsGrpc(),
  },
  "colloquy-adk-memory": {
    dialect: "1.0",
    host: async () => (await import("./servers/colloquy.ts")).hostColloquyAdk({ store: "memory" }),
  },
  "colloquy-adk-sqlite": {
    dialect: "1.0",
    host: async () => (await import("./servers/colloquy.ts")).hostColloquyAdk({ store: "sqlite" }),
  },
  "a2a-js": {
    dialect: "1.0",
    host: async () => (await import("./servers/a2a-js.ts")).hostA2aJs(),
  },
  "adk-toA2a": {
    dialect: "0.3",
    host: async () => (await import("./servers/adk.ts")).hostToA2a(),
  },
  "adk-runner": {
    dialect: "1.0",
    host: async () => (await import("./servers/adk.ts")).hostRunner(),
  },
};

function colloquy(variant: Variant): Subject {
  return { dialect: "1.0", host: async () => (await import("./servers/colloquy.ts")).hostColloquy(variant) };
}

/** Whose answers the floor repeats: one event per chunk. */
export const MODEL: SubjectName = "colloquy-memory-unmerged";

/** What the bench answers for: a wrong answer of these fails it. */
export const OURS: RegExp = /^(floor|colloquy)/;

export const SEND_SUBJECTS: readonly SubjectName[] = [
  "floor",
  "colloquy-memory",
  "colloquy-memory-unmerged",
  "colloquy-sqlite",
  "a2a-js",
];
export const CHUNK_SUBJECTS: readonly SubjectName[] = [
  "floor",
  "colloquy-memory",
  "colloquy-memory-unmerged",
  "colloquy-sqlite",
  "colloquy-sqlite-unmerged",
  "a2a-js",
];
export const STREAM_SUBJECTS: readonly SubjectName[] = CHUNK_SUBJECTS;
/** Those that are asked in A2A 0.3, too. */
export const STREAMS_OF_0_3: readonly SubjectName[] = ["colloquy-memory", "colloquy-memory-unmerged"];
export const ADK_SUBJECTS: readonly SubjectName[] = [
  "colloquy-adk-memory",
  "colloquy-adk-sqlite",
  "adk-toA2a",
];
export const GRPC_SUBJECTS: readonly SubjectName[] = [
  "colloquy-grpc-memory",
  "colloquy-grpc-memory-unmerged",
  "colloquy-grpc-sqlite",
  "a2a-js-grpc",
];
export const READER_SUBJECTS: readonly SubjectName[] = [
  "floor",
  "colloquy-memory",
  "colloquy-sqlite",
  "a2a-js",
];
