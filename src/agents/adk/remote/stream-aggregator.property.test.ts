import * as fc from "fast-check";
import { expect, it } from "vitest";
import {
  fold,
  isEventRefusal,
  type Part,
  copyTask,
  type StreamResponse,
  type Task,
} from "../../../protocol/index.ts";
import type { AdkEvent } from "../adk-structural-types.ts";
import { StreamAggregator } from "./stream-aggregator.ts";

const taskIds = { taskId: "T", contextId: "C" };
type Chunk = Extract<StreamResponse, { artifactUpdate: unknown }>;

interface Piece {
  readonly text: string;
  readonly thought: boolean;
}

const createPart = ({ text, thought }: Piece): Part =>
  thought ? { text, metadata: { adk_thought: true } } : { text };
const arbitraryPiece = fc.record({ text: fc.string({ minLength: 1, maxLength: 4 }), thought: fc.boolean() });
const arbitraryArtifact = fc.record({
  pieces: fc.array(arbitraryPiece, { minLength: 1, maxLength: 6 }),
  /** True if the peer marks the last chunk. */
  isClosed: fc.boolean(),
});
const arbitraryEnding = fc.constantFrom<"status" | "task" | "cut">("status", "task", "cut");

/** Chunks of several artifacts in any order, but in order within each artifact. */
const arbitraryStreams = fc.array(arbitraryArtifact, { minLength: 1, maxLength: 4 }).chain((artifacts) => {
  const chunks = artifacts.map(({ pieces, isClosed }, id) =>
    pieces.map((one, at): Chunk => ({
      artifactUpdate: {
        ...taskIds,
        artifact: { artifactId: `A${id}`, parts: [createPart(one)] },
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

/** Returns the task after some of its chunks. */
function foldTask(chunks: readonly StreamResponse[], state: Task["status"]["state"]): StreamResponse {
  let task: Task = { id: "T", contextId: "C", status: { state: "TASK_STATE_WORKING" } };
  for (const chunk of chunks) {
    const next = fold(task, chunk);
    if (!isEventRefusal(next)) task = next;
  }
  return { task: { ...copyTask(task), status: { state } } };
}

const renderTexts = (events: readonly AdkEvent[], isPartial: boolean): string =>
  events
    .filter(({ partial = false }) => partial === isPartial)
    .flatMap(({ content }) => content?.parts ?? [])
    .map(({ text = "", thought }) => (thought ? `*${text}*` : text))
    .join("|");

const joinPieces = (pieces: readonly Piece[]): string => pieces.map(({ text }) => text).join("");
const joinTexts = (events: readonly AdkEvent[], isPartial: boolean): string =>
  events
    .filter(({ partial = false }) => partial === isPartial)
    .flatMap(({ content }) => content?.parts ?? [])
    .map(({ text = "" }) => text)
    .join("");

it("stores each artifact once for any order of chunks and any interruption", () => {
  fc.assert(
    fc.property(
      arbitraryStreams,
      arbitraryEnding,
      fc.option(fc.tuple(fc.nat(), fc.nat()), { nil: undefined }),
      ({ artifacts, chunks }, end, cut) => {
        const aggregation = new StreamAggregator({ author: "r" });
        const responses: StreamResponse[] = [...chunks];
        if (cut) {
          // The chunks between both positions are missed. They are contained in the task that resumes the
          // stream.
          const [from, to] = cut.map((at) => at % (chunks.length + 1)).toSorted((a, b) => a - b) as [
            number,
            number,
          ];
          responses.splice(from, to - from, foldTask(chunks.slice(0, to), "TASK_STATE_WORKING"));
        }
        if (end === "status")
          responses.push({ statusUpdate: { ...taskIds, status: { state: "TASK_STATE_COMPLETED" } } });
        if (end === "task") responses.push(foldTask(chunks, "TASK_STATE_COMPLETED"));
        const events = [...responses.flatMap((one) => aggregation.process(one)), ...aggregation.finish()];

        const ids = events.flatMap(
          ({ customMetadata }) => (customMetadata?.["a2a:artifact_ids"] as string[]) ?? [],
        );
        expect(ids.toSorted()).toEqual(artifacts.map((_, id) => `A${id}`).toSorted());
        const storedTexts = renderTexts(events, false);
        for (const { pieces } of artifacts)
          expect(storedTexts.replaceAll(/[|*]/g, "")).toContain(joinPieces(pieces).replaceAll(/[|*]/g, ""));
        const length = artifacts.reduce((sum, { pieces }) => sum + joinPieces(pieces).length, 0);
        expect(joinTexts(events, false)).toHaveLength(length);
      },
    ),
  );
});

it("emits each character once, even after an interruption", () => {
  const single = arbitraryStreams.filter(
    ({ artifacts: [one], chunks }) => one?.pieces.length === chunks.length,
  );
  fc.assert(
    fc.property(single, fc.nat(), fc.nat(), ({ artifacts: [one], chunks }, first, second) => {
      const aggregation = new StreamAggregator({ author: "r" });
      const [from, to] = [first, second].map((at) => at % chunks.length).toSorted((a, b) => a - b) as [
        number,
        number,
      ];
      const responses: StreamResponse[] = [...chunks];
      responses.splice(from, to - from, foldTask(chunks.slice(0, to), "TASK_STATE_WORKING"));
      const events = [...responses.flatMap((each) => aggregation.process(each)), ...aggregation.finish()];
      const text = joinPieces(one?.pieces ?? []);
      // An artifact that arrives in one chunk has no partial events.
      const isAtOnce = chunks.length === 1 && one?.isClosed;
      expect(joinTexts(events, true)).toBe(isAtOnce ? "" : text);
      expect(joinTexts(events, false)).toBe(text);
    }),
  );
});

/** How a peer divides an artifact into updates. */
type Dialect = "pieces" | "whole" | "marked complete" | "marked partial";
const arbitraryDialect = fc.constantFrom<Dialect>("pieces", "whole", "marked complete", "marked partial");

const toPart = ([isData, text]: readonly [boolean, string]): Part =>
  isData ? { data: { id: text, name: "f", args: { a: 1, b: 2 } } } : { text };

function createUpdates(artifactId: string, parts: readonly Part[], dialect: Dialect): Chunk[] {
  const mark = dialect.startsWith("marked") && { metadata: { adk_partial: dialect === "marked partial" } };
  const updates = parts.map((part, at): Chunk => ({
    artifactUpdate: {
      ...taskIds,
      artifact: { artifactId, parts: [part] },
      ...(at > 0 && { append: true }),
      ...mark,
      ...(dialect === "pieces" && at === parts.length - 1 && { lastChunk: true }),
    },
  }));
  if (dialect === "pieces" || dialect === "marked complete") return updates;
  const artifactUpdate = { ...taskIds, artifact: { artifactId, parts: [...parts] }, lastChunk: true };
  return [...updates, { artifactUpdate }];
}

/** Returns an equal value whose objects list their members in reverse order, as Python's SDK may do. */
function reverseMembers<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(reverseMembers) as Value;
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, member]) => [name, reverseMembers(member)] as const);
  return Object.fromEntries(entries.toReversed()) as Value;
}

it("stores the content of an answer once, if the snapshot of a resumed stream repeats received events", () => {
  const arbitraryParts = fc.array(fc.tuple(fc.boolean(), fc.string({ minLength: 1, maxLength: 3 })), {
    minLength: 1,
    maxLength: 5,
  });
  const arbitraryArtifacts = fc.array(fc.tuple(arbitraryParts, arbitraryDialect), {
    minLength: 1,
    maxLength: 3,
  });
  fc.assert(
    fc.property(
      arbitraryArtifacts,
      fc.nat(),
      fc.nat(),
      fc.boolean(),
      (artifacts, first, second, hasEnded) => {
        const chunks = artifacts.flatMap(([pieces, dialect], id) =>
          createUpdates(`A${id}`, pieces.map(toPart), dialect),
        );
        const [received, resumed] = [first, second]
          .map((at) => at % (chunks.length + 1))
          .toSorted((a, b) => a - b) as [number, number];
        const end = hasEnded ? chunks.length : resumed;
        const snapshot = foldTask(
          chunks.slice(0, end),
          hasEnded ? "TASK_STATE_COMPLETED" : "TASK_STATE_WORKING",
        );
        const responses = [...chunks.slice(0, received), reverseMembers(snapshot), ...chunks.slice(end)];
        const aggregation = new StreamAggregator({ author: "r" });
        const events = [...responses.flatMap((one) => aggregation.process(one)), ...aggregation.finish()];
        const stored = events
          .filter(({ partial }) => !partial)
          .flatMap(({ content }) => content?.parts ?? []);
        const wanted = artifacts.flatMap(([pieces]) => pieces);
        const textOf = (texts: readonly (readonly [boolean, string])[], isData: boolean): string =>
          texts.flatMap(([each, text]) => (each === isData ? [text] : [])).join("");
        expect(stored.map(({ text = "" }) => text).join("")).toBe(textOf(wanted, false));
        expect(stored.filter(({ text }) => text === undefined)).toHaveLength(
          wanted.filter(([isData]) => isData).length,
        );
      },
    ),
  );
});
