import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AgentEvent, Run } from "../../engine/index.ts";
import {
  appendPartJoiningText,
  type Artifact,
  type ArtifactEnding,
  fold,
  isEventRefusal,
  type Part,
  type Task,
} from "../../protocol/index.ts";
import { AgentEventIterator } from "./agent-event-iterator.ts";
import { type AgentYield, chunk, status } from "./agent-yield.ts";

type ArtifactEvent = Extract<AgentEvent, { artifact: unknown }>;

const task: Task = { id: "T", contextId: "C", status: { state: "TASK_STATE_WORKING" } };

/** Returns the events of a generator, and its error if it fails. */
async function collectEvents(
  source: AsyncIterable<AgentYield, void>,
  ending: ArtifactEnding,
): Promise<{ events: AgentEvent[]; error: unknown }> {
  const events: AgentEvent[] = [];
  try {
    for await (const event of new AgentEventIterator({ task } as Run, source, ending)) events.push(event);
  } catch (error) {
    return { events, error };
  }
  return { events, error: undefined };
}

function selectArtifactEvents(events: readonly AgentEvent[]): ArtifactEvent[] {
  return events.filter((event) => "artifact" in event);
}

function foldArtifacts(events: readonly AgentEvent[]): Map<string, Part[]> {
  let folded: Task = { ...task };
  for (const event of selectArtifactEvents(events)) {
    const next = fold(folded, { artifactUpdate: { taskId: "T", contextId: "C", ...event } });
    if (isEventRefusal(next)) throw new Error(next.refusalReason);
    folded = next;
  }
  return new Map(folded.artifacts?.map(({ artifactId, parts }) => [artifactId, parts]));
}

function waitForImmediate(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function* yieldWithPauses(values: readonly AgentYield[]): AsyncGenerator<AgentYield, void> {
  for (const value of values) {
    yield value;
    await waitForImmediate();
  }
}

const describeEvents = (events: readonly AgentEvent[]): unknown[] =>
  selectArtifactEvents(events).map(({ artifact, append, lastChunk }) => [
    artifact.parts.map((part) => ("text" in part ? part.text : part)),
    [append && "append", lastChunk && "last"].filter(Boolean).join(" "),
  ]);

describe("the artifact of a generator that pauses between its chunks", () => {
  it("ends with the whole, which ADK for Python stores", async () => {
    const { events } = await collectEvents(yieldWithPauses(["Hel", "lo", "!"]), "whole");
    expect(describeEvents(events)).toEqual([
      [["Hel"], ""],
      [["lo"], "append"],
      [["!"], "append"],
      [["Hello!"], "last"],
    ]);
  });

  it("ends with its last character if `artifacts` is `pieces`", async () => {
    const { events } = await collectEvents(yieldWithPauses(["Hel", "lo", " 🙂"]), "pieces");
    expect(describeEvents(events)).toEqual([
      [["He"], ""],
      [["ll"], "append"],
      [["o "], "append"],
      [["🙂"], "append last"],
    ]);
  });

  it("keeps a file back until the next chunk if `artifacts` is `pieces`", async () => {
    const image = { raw: "AQID", mediaType: "image/png" };
    const { events } = await collectEvents(yieldWithPauses([image, "done"]), "pieces");
    expect(describeEvents(events)).toEqual([
      [[image, "don"], ""],
      [["e"], "append last"],
    ]);
  });

  it("keeps the name and the metadata of its chunks in the whole", async () => {
    const log = { id: "log", name: "Log", metadata: { level: 1 } };
    const yields = [
      chunk(log, "one "),
      chunk("log", "two "),
      chunk({ ...log, metadata: { end: true } }, "three"),
    ];
    const { events } = await collectEvents(yieldWithPauses(yields), "whole");
    expect(events.at(-1)).toEqual({
      artifact: {
        artifactId: "log",
        name: "Log",
        metadata: { level: 1, end: true },
        parts: [{ text: "one two three" }],
      } satisfies Artifact,
      lastChunk: true,
    });
  });

  it.each(["whole", "pieces"] as const)(
    "is closed before the error of the generator [%s]",
    async (ending) => {
      async function* fail(): AsyncGenerator<AgentYield, void> {
        yield* yieldWithPauses(["so ", "far"]);
        throw new Error("broken");
      }
      const { events, error } = await collectEvents(fail(), ending);
      expect(error).toEqual(new Error("broken"));
      expect(selectArtifactEvents(events).at(-1)?.lastChunk).toBe(true);
      expect(foldArtifacts(events)).toEqual(new Map([["answer", [{ text: "so far" }]]]));
    },
  );
});

/** Text, data, named chunks, and statuses, with and without pauses. */
const generatorSteps = fc.array(
  fc.record({
    kind: fc.constantFrom("text", "text", "data", "chunk", "last chunk", "status"),
    text: fc.string({ unit: "grapheme", maxLength: 4 }),
    pause: fc.boolean(),
  }),
  { maxLength: 20 },
);

describe.each(["whole", "pieces"] as const)("any generator with the ending `%s`", (ending) => {
  it("yields each artifact once, without empty chunks, and in order with its statuses", async () => {
    await fc.assert(
      fc.asyncProperty(generatorSteps, fc.boolean(), async (steps, hasError) => {
        const expected = new Map<string, Part[]>();
        let namedCount = 1;
        const error = new Error("broken");
        async function* generate(): AsyncGenerator<AgentYield, void> {
          for (const [at, { kind, text, pause }] of steps.entries()) {
            const part: Part =
              kind === "data" ? { data: at } : { text: `${text}${kind === "text" ? "" : "."}` };
            const isNamed = kind.endsWith("chunk");
            const id = isNamed ? `named${namedCount}` : "answer";
            if (kind !== "status" && (!("text" in part) || part.text !== "")) {
              expected.set(id, expected.get(id) ?? []);
              appendPartJoiningText(expected.get(id) as Part[], part);
            }
            if (kind === "status") yield status(`${at}`);
            else if (isNamed) yield chunk({ id, last: kind === "last chunk" }, part);
            else yield "text" in part ? part.text : part;
            if (kind === "last chunk") namedCount++;
            if (pause) await waitForImmediate();
          }
          if (hasError) throw error;
        }
        const { events, error: thrown } = await collectEvents(generate(), ending);
        expect(thrown).toBe(hasError ? error : undefined);
        const updates = selectArtifactEvents(events);
        expect(foldArtifacts(events)).toEqual(expected);
        for (const { artifact } of updates) {
          expect(artifact.parts.length).toBeGreaterThan(0);
          expect(artifact.parts).not.toContainEqual({ text: "" });
        }
        const lastChunks = updates.filter(({ lastChunk }) => lastChunk);
        expect(lastChunks.map(({ artifact }) => artifact.artifactId).toSorted()).toEqual(
          [...expected.keys()].toSorted(),
        );
        if (ending === "whole") {
          for (const { artifact, append } of lastChunks) {
            expect(append).toBeUndefined();
            expect(artifact.parts).toEqual(expected.get(artifact.artifactId));
          }
        } else {
          const joined = new Map<string, Part[]>();
          for (const { artifact } of updates) {
            const parts = joined.get(artifact.artifactId) ?? [];
            joined.set(artifact.artifactId, parts);
            for (const part of artifact.parts) appendPartJoiningText(parts, part);
          }
          expect(joined).toEqual(expected);
        }
        const statusTexts = events.flatMap((event) =>
          "status" in event ? [event.status.message?.parts] : [],
        );
        expect(statusTexts).toEqual(
          steps.flatMap(({ kind }, at) => (kind === "status" ? [[{ text: `${at}` }]] : [])),
        );
      }),
      { numRuns: 200 },
    );
  });

  it("sends text before the status that follows it", async () => {
    await fc.assert(
      fc.asyncProperty(generatorSteps, async (steps) => {
        const yields = steps.map(({ text }, at) => (at % 2 === 0 ? `${text}a` : status(`${at}`)));
        const { events } = await collectEvents(yieldWithPauses(yields), ending);
        let sent = "";
        let yielded = "";
        let next = 0;
        for (const event of events) {
          if ("artifact" in event) {
            const [part] = event.artifact.parts;
            const text = part && "text" in part ? part.text : "";
            sent = event.append ? sent + text : text;
          }
          if (!("status" in event)) continue;
          for (; typeof yields[next] === "string"; next++) yielded += yields[next] as string;
          next++;
          // With `pieces`, the last character waits for the next chunk.
          const length =
            ending === "whole" ? yielded.length : Array.from(yielded).slice(0, -1).join("").length;
          expect(sent).toBe(yielded.slice(0, length));
        }
      }),
    );
  });
});
