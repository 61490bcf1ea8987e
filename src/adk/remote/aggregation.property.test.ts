import * as fc from "fast-check";
import { expect, it } from "vitest";
import {
  fold,
  isRefusal,
  type Part,
  snapshot,
  type StreamResponse,
  type Task,
} from "../../protocol/index.ts";
import type { AdkEvent } from "../types.ts";
import { Aggregation } from "./aggregation.ts";

const place = { taskId: "T", contextId: "C" };
type Chunk = Extract<StreamResponse, { artifactUpdate: unknown }>;

interface Piece {
  readonly text: string;
  readonly thought: boolean;
}

const partOf = ({ text, thought }: Piece): Part =>
  thought ? { text, metadata: { adk_thought: true } } : { text };
const piece = fc.record({ text: fc.string({ minLength: 1, maxLength: 4 }), thought: fc.boolean() });
const artifact = fc.record({
  pieces: fc.array(piece, { minLength: 1, maxLength: 6 }),
  /** Whether the peer says which chunk is the last. */
  isClosed: fc.boolean(),
});
const ending = fc.constantFrom<"status" | "task" | "cut">("status", "task", "cut");

/** Artifacts as their chunks, in any order but each in its own. */
const streams = fc.array(artifact, { minLength: 1, maxLength: 4 }).chain((artifacts) => {
  const chunks = artifacts.map(({ pieces, isClosed }, id) =>
    pieces.map((one, at): Chunk => ({
      artifactUpdate: {
        ...place,
        artifact: { artifactId: `A${id}`, parts: [partOf(one)] },
        ...(at > 0 && { append: true }),
        ...(isClosed && at === pieces.length - 1 && { lastChunk: true }),
      },
    })),
  );
  const turns = chunks.flatMap((own, id) => own.map(() => id));
  return fc.shuffledSubarray(turns, { minLength: turns.length }).map((order) => {
    const left = chunks.map((own) => own.slice());
    return { artifacts, chunks: order.flatMap((id) => left[id]?.shift() ?? []) };
  });
});

/** The task as it is after some of its chunks. */
function taskAfter(chunks: readonly StreamResponse[], state: Task["status"]["state"]): StreamResponse {
  let task: Task = { id: "T", contextId: "C", status: { state: "TASK_STATE_WORKING" } };
  for (const chunk of chunks) {
    const next = fold(task, chunk);
    if (!isRefusal(next)) task = next;
  }
  return { task: { ...snapshot(task), status: { state } } };
}

const textsIn = (events: readonly AdkEvent[], isPartial: boolean): string =>
  events
    .filter(({ partial = false }) => partial === isPartial)
    .flatMap(({ content }) => content?.parts ?? [])
    .map(({ text = "", thought }) => (thought ? `*${text}*` : text))
    .join("|");

const textOf = (pieces: readonly Piece[]): string => pieces.map(({ text }) => text).join("");
const plain = (events: readonly AdkEvent[], isPartial: boolean): string =>
  events
    .filter(({ partial = false }) => partial === isPartial)
    .flatMap(({ content }) => content?.parts ?? [])
    .map(({ text = "" }) => text)
    .join("");

it("keeps each artifact once, whatever comes between, and is cut where it may", () => {
  fc.assert(
    fc.property(
      streams,
      ending,
      fc.option(fc.tuple(fc.nat(), fc.nat()), { nil: undefined }),
      ({ artifacts, chunks }, end, cut) => {
        const aggregation = new Aggregation({ author: "r" });
        const said: StreamResponse[] = [...chunks];
        if (cut) {
          // What comes between two places is missed, and stands in the task with which the stream goes on.
          const [from, to] = cut.map((at) => at % (chunks.length + 1)).toSorted((a, b) => a - b) as [
            number,
            number,
          ];
          said.splice(from, to - from, taskAfter(chunks.slice(0, to), "TASK_STATE_WORKING"));
        }
        if (end === "status")
          said.push({ statusUpdate: { ...place, status: { state: "TASK_STATE_COMPLETED" } } });
        if (end === "task") said.push(taskAfter(chunks, "TASK_STATE_COMPLETED"));
        const events = [...said.flatMap((one) => aggregation.take(one)), ...aggregation.end()];

        const ids = events.flatMap(
          ({ customMetadata }) => (customMetadata?.["a2a:artifact_ids"] as string[]) ?? [],
        );
        expect(ids.toSorted()).toEqual(artifacts.map((_, id) => `A${id}`).toSorted());
        const whole = textsIn(events, false);
        for (const { pieces } of artifacts)
          expect(whole.replaceAll(/[|*]/g, "")).toContain(textOf(pieces).replaceAll(/[|*]/g, ""));
        const length = artifacts.reduce((sum, { pieces }) => sum + textOf(pieces).length, 0);
        expect(plain(events, false)).toHaveLength(length);
      },
    ),
  );
});

it("shows those who watch each character once, also behind a cut", () => {
  const single = streams.filter(({ artifacts: [one], chunks }) => one?.pieces.length === chunks.length);
  fc.assert(
    fc.property(single, fc.nat(), fc.nat(), ({ artifacts: [one], chunks }, first, second) => {
      const aggregation = new Aggregation({ author: "r" });
      const [from, to] = [first, second].map((at) => at % chunks.length).toSorted((a, b) => a - b) as [
        number,
        number,
      ];
      const said: StreamResponse[] = [...chunks];
      said.splice(from, to - from, taskAfter(chunks.slice(0, to), "TASK_STATE_WORKING"));
      const events = [...said.flatMap((each) => aggregation.take(each)), ...aggregation.end()];
      const text = textOf(one?.pieces ?? []);
      // One that comes whole at once is not shown in pieces.
      const isAtOnce = chunks.length === 1 && one?.isClosed;
      expect(plain(events, true)).toBe(isAtOnce ? "" : text);
      expect(plain(events, false)).toBe(text);
    }),
  );
});
