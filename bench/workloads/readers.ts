import { partyOf, type Bench, type Party } from "../bench.ts";
import type { Job } from "../job.ts";
import { readOutcome } from "../load/outcome.ts";
import { floorPath, jobRequest, subscribeRequest, type Template } from "../load/request.ts";
import { splitFrames, parseResponse } from "../load/response.ts";
import type { Row, Table } from "../report.ts";
import { MODEL, READER_SUBJECTS, type SubjectName } from "../subjects.ts";

const WAIT: Job = { kind: "wait", count: 0 };
/** Opened and closed before the measurement, so that code and first buffers are not counted. */
const WARM_UP = 50;

/** Many readers that wait for one task: what does a reader cost who gets nothing? */
export async function measureReaders(bench: Bench): Promise<Table[]> {
  const { readers } = bench.settings;
  const used = new Map<SubjectName, { kb: number; faults: string[] }>();
  const frames = await modelFrames(bench);
  for (const name of READER_SUBJECTS) {
    bench.say(`  ${name}`);
    used.set(name, await bench.with([name], (parties) => measureOne(bench, partyOf(parties, name), frames)));
  }
  const floor = used.get("floor")!.kb;
  const a2aJs = used.get("a2a-js")!.kb;
  const rows = READER_SUBJECTS.map((subject): Row => {
    const { kb, faults } = used.get(subject)!;
    return {
      subject,
      cells: { kb, toFloor: kb / floor, toA2aJs: kb / a2aJs },
      targets: [],
      checked: readers,
      faults,
    };
  });
  return [
    {
      workload: "readers",
      title: `${readers.toLocaleString("en-US")} idle subscribers of one task: resident memory per reader`,
      columns: [
        { key: "kb", title: "KB", format: "kb" },
        { key: "toFloor", title: "× floor", format: "ratio" },
        { key: "toA2aJs", title: "× a2a-js", format: "ratio" },
      ],
      rows,
    },
  ];
}

async function measureOne(
  bench: Bench,
  party: Party,
  frames: readonly string[],
): Promise<{ kb: number; faults: string[] }> {
  const { remote, endpoint, name } = party;
  if (name === "floor") {
    const path = floorPath("SubscribeToTask");
    await remote.call("teach", { path, contentType: "text/event-stream", frames, turns: false, atOnce: 1 });
  }
  const taskId = name === "floor" ? "any" : await startTask(bench, party);
  const template: Template = subscribeRequest(endpoint, taskId);
  await bench.load.call("openReaders", { template, count: WARM_UP });
  const before = await remote.call("settle");
  const count = bench.settings.readers;
  await bench.load.call("openReaders", { template, count });
  const after = await remote.call("settle");
  await remote.call("release");
  const { completed, readers } = await bench.load.call("finishReaders");
  const faults =
    completed === readers ? [] : [`${readers - completed} of ${readers} readers did not see the end`];
  return { kb: (after.rss - before.rss) / 1024 / count, faults };
}

/** A task that works until its subject is released. */
async function startTask(bench: Bench, { endpoint, name }: Party): Promise<string> {
  const answer = await bench.load.call("askOnce", jobRequest(endpoint, "SendMessage", WAIT, true));
  const { taskId } = readOutcome(Buffer.from(answer, "latin1"));
  if (!taskId) throw new Error(`${name} began no task`);
  return taskId;
}

/** A subscription as the model writes it: the task as it stands, and how it ends. */
async function modelFrames(bench: Bench): Promise<string[]> {
  return bench.with([MODEL], async (parties) => {
    const model = partyOf(parties, MODEL);
    const template = subscribeRequest(model.endpoint, await startTask(bench, model));
    await bench.load.call("openReaders", { template, count: 1 });
    await model.remote.call("release");
    const { sample } = await bench.load.call("finishReaders");
    return splitFrames(parseResponse(Buffer.from(sample, "latin1")).body);
  });
}
