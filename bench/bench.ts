import type { HostCalls } from "./host.ts";
import type { Job } from "./job.ts";
import { floorPath, jobRequest, type Endpoint, type Method } from "./load/request.ts";
import { parseResponse, splitFrames } from "./load/response.ts";
import type { LoadCalls } from "./load/worker.ts";
import { Remote } from "./remote.ts";
import type { Settings } from "./settings.ts";
import { SUBJECTS, type SubjectName } from "./subjects.ts";

/** A subject at work in its own process. */
export interface Party {
  readonly name: SubjectName;
  readonly remote: Remote<HostCalls>;
  /** Throws for a subject without a network. */
  readonly endpoint: Endpoint;
}

/** What every workload needs: the settings, the load generator, and subjects that start and stop. */
export class Bench {
  readonly settings: Settings;
  readonly load: Remote<LoadCalls>;
  readonly #say: (line: string) => void;

  private constructor(settings: Settings, load: Remote<LoadCalls>, say: (line: string) => void) {
    this.settings = settings;
    this.load = load;
    this.#say = say;
  }

  static async start(settings: Settings, say: (line: string) => void): Promise<Bench> {
    const load = await Remote.start<LoadCalls>(
      "load generator",
      new URL("./load/worker.ts", import.meta.url),
    );
    return new Bench(settings, load, say);
  }

  async stop(): Promise<void> {
    await this.load.stop();
  }

  /** Progress, for people. */
  say(line: string): void {
    this.#say(line);
  }

  /** Runs `work` with these subjects side by side, and stops them whatever happens. */
  async with<T>(names: readonly SubjectName[], work: (parties: readonly Party[]) => Promise<T>): Promise<T> {
    const parties: Party[] = [];
    try {
      for (const name of names) parties.push(await this.#start(name));
      return await work(parties);
    } finally {
      await Promise.all(parties.map(({ remote }) => remote.stop()));
    }
  }

  async #start(name: SubjectName): Promise<Party> {
    const { profile } = this.settings;
    const execArgv = profile
      ? ["--cpu-prof", `--cpu-prof-dir=${profile}`, `--cpu-prof-name=${name}-${Date.now()}.cpuprofile`]
      : [];
    const remote = await Remote.start<HostCalls>(
      name,
      new URL("./host.ts", import.meta.url),
      [name],
      execArgv,
    );
    const url = await remote.call("url");
    return {
      name,
      remote,
      get endpoint() {
        if (!url) throw new Error(`${name} has no network`);
        const { hostname, port, pathname } = new URL(url);
        return { host: hostname, port: Number(port), path: pathname, dialect: SUBJECTS[name].dialect };
      },
    };
  }

  /** Has the floor write, word for word and event by event, what `model` answers. */
  async teachFloor(parties: readonly Party[], model: SubjectName, method: Method, job: Job): Promise<void> {
    const floor = partyOf(parties, "floor");
    const answer = await this.load.call("askOnce", jobRequest(partyOf(parties, model).endpoint, method, job));
    const { headers, body } = parseResponse(Buffer.from(answer, "latin1"));
    const contentType = headers["content-type"]?.split(";")[0] ?? "";
    const streamed = contentType === "text/event-stream";
    await floor.remote.call("teach", {
      path: floorPath(method, job),
      contentType,
      frames: streamed ? splitFrames(body) : [body],
      turns: job.kind === "turns",
    });
  }
}

export function partyOf(parties: readonly Party[], name: SubjectName): Party {
  const party = parties.find((candidate) => candidate.name === name);
  if (!party) throw new Error(`${name} is not running`);
  return party;
}

/** The order of a round: each round another subject begins. */
export function rotate<T>(all: readonly T[], by: number): T[] {
  const at = by % all.length;
  return [...all.slice(at), ...all.slice(0, at)];
}
