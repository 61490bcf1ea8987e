import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { release } from "./job.ts";
import { expose } from "./remote.ts";
import { SUBJECTS, type SubjectName } from "./subjects.ts";

/** What a server under test offers to the bench. */
export interface Hosted {
  /** Where it listens; absent for a subject without a network. */
  readonly url?: string;
  /** The floor only: the bytes that it writes. */
  teach?(lesson: Lesson): void;
  /** A subject without a network only: does jobs by itself for a while. */
  run?(order: RunOrder): Promise<RunResult>;
}

export interface RunOrder {
  readonly connections: number;
  /** Not counted. */
  readonly leadMs: number;
  readonly ms: number;
}

export interface RunResult {
  readonly perSecond: number;
  /** Altogether, with those of the lead. */
  readonly completed: number;
  readonly checked: number;
  readonly faults: readonly string[];
}

/** An answer to be written word for word. */
export interface Lesson {
  readonly path: string;
  readonly contentType: string;
  /** Each is one write. */
  readonly frames: readonly string[];
  /** Gives the event loop a turn before each frame, as the agent does. */
  readonly turns: boolean;
  /** How many frames come at once; the others after `release`. Absent: all. */
  readonly atOnce?: number;
}

export interface Usage {
  /** User and system time of the process so far. */
  readonly cpuMs: number;
  readonly rss: number;
}

const [, , name = ""] = process.argv;
const hosted = await SUBJECTS[name as SubjectName].host();

/** What a subject's process does for the bench. */
export type HostCalls = {
  url(): string | undefined;
  usage(): Usage;
  /** Resident memory with the garbage gone. */
  settle(): Promise<Usage>;
  release(): void;
  teach(lesson: Lesson): void;
  run(order: RunOrder): Promise<RunResult>;
};

expose({
  url: () => hosted.url,
  usage,
  async settle() {
    setFlagsFromString("--expose-gc");
    const gc = runInNewContext("gc") as () => void;
    for (let round = 0; round < 3; round++) {
      gc();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return usage();
  },
  release,
  teach: (lesson) => hosted.teach?.(lesson),
  async run(order) {
    if (!hosted.run) throw new Error(`${name} has a network and is measured through it`);
    return hosted.run(order);
  },
} satisfies HostCalls);

function usage(): Usage {
  const { user, system } = process.cpuUsage();
  return { cpuMs: (user + system) / 1000, rss: process.memoryUsage.rss() };
}
