import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ArtifactReference } from "../engine/index.ts";
import { ArtifactOrigins } from "../engine/snapshot-planner.ts";
import { copyTask, fold, isEventRefusal, LogEvent, type Task, type TaskEvent } from "../protocol/index.ts";
import {
  findFirstReferencedSeq,
  omitReferencedContent,
  restoreReferencedContent,
} from "./artifact-references.ts";
import { foldLoggedEvents } from "./logged-events.ts";
import {
  createSplitLogArbitrary,
  createTestChunkEvent,
  createTestSubmittedTaskEvent,
  foldTestTaskEvents,
} from "./task-event-logs.fixture.ts";

/** Generates logs with artifacts around the sizes at which content is referenced, and with three artifact ids. */
const logWithLargeArtifactsArbitrary: fc.Arbitrary<TaskEvent[]> = fc
  .tuple(
    createSplitLogArbitrary("t"),
    fc.array(
      fc.oneof(
        { weight: 20, arbitrary: fc.constantFrom(1, 2000, 5000) },
        { weight: 1, arbitrary: fc.constant(300_000) },
      ),
      { minLength: 60, maxLength: 60 },
    ),
    fc.array(fc.constantFrom("answer", "file", "third"), { minLength: 60, maxLength: 60 }),
    fc.boolean(),
  )
  .map(([pieces, sizes, ids, startsWithArtifact]) =>
    pieces.flat().map((event, at) => {
      if ("task" in event && startsWithArtifact) {
        const artifacts = [{ artifactId: "answer", parts: [{ text: "earlier" }] }];
        return { task: { ...event.task, artifacts } };
      }
      if (!("artifactUpdate" in event)) return event;
      const { artifact } = event.artifactUpdate;
      const parts = [...artifact.parts, { text: String(at % 10).repeat(sizes[at] ?? 1) }];
      const name = at % 7 === 0 ? { name: `name ${at}`, metadata: { at } } : {};
      const changed = { ...artifact, ...name, artifactId: ids[at] ?? "answer", parts };
      return { artifactUpdate: { ...event.artifactUpdate, artifact: changed } };
    }),
  );

function toLogEvents(log: readonly TaskEvent[]): LogEvent[] {
  return log.map((event, at) => LogEvent.create(at + 1, event));
}

describe("a snapshot that references the log", () => {
  it("is restored to the fold of the log, for every log, snapshot, and restart of the server", () => {
    let referencedArtifactCount = 0;
    fc.assert(
      fc.property(
        logWithLargeArtifactsArbitrary,
        fc.array(fc.constantFrom("none", "snapshot", "restart", "crash"), { minLength: 60, maxLength: 60 }),
        (log, steps) => {
          const events = toLogEvents(log);
          let origins = new ArtifactOrigins();
          let storedReferences: readonly ArtifactReference[] = [];
          let task: Task | undefined;
          for (const [at, event] of events.entries()) {
            origins.recordEvents(task, [event]);
            const folded = fold(task, event.event);
            if (isEventRefusal(folded)) throw new Error(folded.refusalReason);
            task = folded;
            // A restarted server knows only the references of the newest snapshot.
            if (steps[at] === "crash") origins = new ArtifactOrigins(storedReferences);
            if (steps[at] === "none" || steps[at] === "crash") continue;
            const references = origins.listReferences();
            referencedArtifactCount += references.length;
            const json = JSON.stringify(omitReferencedContent(copyTask(task), references));
            for (const { artifactId } of references)
              expect(task.artifacts?.some((artifact) => artifact.artifactId === artifactId)).toBe(true);
            const restored = JSON.parse(json) as Task;
            const fromSeq = findFirstReferencedSeq(references) ?? Infinity;
            restoreReferencedContent(restored, references, events.slice(fromSeq - 1, at + 1));
            expect(restored).toEqual(JSON.parse(JSON.stringify(foldTestTaskEvents(log.slice(0, at + 1)))));
            expect(foldLoggedEvents(restored, events.slice(at + 1))).toEqual(
              JSON.parse(JSON.stringify(foldTestTaskEvents(log))),
            );
            storedReferences = references;
            if (steps[at] === "restart") origins = new ArtifactOrigins(references);
          }
        },
      ),
      { numRuns: 60 },
    );
    expect(referencedArtifactCount).toBeGreaterThan(10);
  });

  it("contains no content of a large artifact in large chunks, and all content in many small chunks", () => {
    const listReferencesAfter = (chunks: readonly string[]): readonly unknown[] => {
      const origins = new ArtifactOrigins();
      const log = chunks.map((chunk) => createTestChunkEvent("t", chunk));
      origins.recordEvents(undefined, toLogEvents([createTestSubmittedTaskEvent("t"), ...log]));
      return origins.listReferences();
    };
    const reference = { artifactId: "answer", fromSeq: 2 };
    expect(listReferencesAfter(["x".repeat(64 * 1024)])).toEqual([reference]);
    expect(listReferencesAfter(["x".repeat(100)])).toEqual([]);
    // Tokens need more space in the log than in the artifact.
    expect(listReferencesAfter(Array.from({ length: 5000 }, () => "token "))).toEqual([]);
    // Serializing so much content would block the event loop.
    expect(listReferencesAfter(Array.from({ length: 50_000 }, () => "token "))).toEqual([reference]);
  });

  it("is refused if the log lacks the content", () => {
    const log = [createTestSubmittedTaskEvent("t"), createTestChunkEvent("t", "a")];
    const references = [{ artifactId: "answer", fromSeq: 2 }];
    const snapshot = omitReferencedContent(foldTestTaskEvents(log), references);
    expect(() => restoreReferencedContent(snapshot, references, [])).toThrow(
      "The log of task t is corrupt: the events of artifact answer from 2 on are missing.",
    );
  });
});
