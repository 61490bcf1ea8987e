import { describe, expect, it } from "vitest";
import type { Artifact, Task, TaskStatus } from "../../protocol/index.ts";
import { toCallToolError, toCallToolResult } from "./call-tool-result.ts";
import { A2AError } from "../../protocol/index.ts";
import { MAX_TOOL_RESULT_TEXT_LENGTH } from "./structured-tool-result.ts";

const createTaskResponse = (
  artifacts: Artifact[],
  status: TaskStatus = { state: "TASK_STATE_COMPLETED" },
): { task: Task } => ({
  task: { id: "t", contextId: "c", status, artifacts },
});

describe("a result", () => {
  it("is truncated to the line length that hosts read, with a note", () => {
    const parts = [{ text: "\u0001".repeat(2_000_000) }, { data: { x: "y".repeat(2_000_000) } }];
    const result = toCallToolResult(createTaskResponse([{ artifactId: "big", parts }]));
    expect(JSON.stringify(result).length).toBeLessThan(10 * 2 ** 20);
    const [text, data] = result.content as { text: string }[];
    expect(text?.text.slice(MAX_TOOL_RESULT_TEXT_LENGTH)).toBe(
      "… (truncated: 2000000 characters exceed the limit)",
    );
    expect(data?.text).toBe("… (truncated: 2000008 characters exceed the limit)");
  });

  it("excludes the reasoning of a model", () => {
    const thought = { text: "Hm.", metadata: { adk_thought: true } };
    const { content, structuredContent } = toCallToolResult(
      createTaskResponse([
        { artifactId: "r", parts: [{ text: "So." }], metadata: { thought: true } },
        { artifactId: "a", parts: [thought, { text: "18" }] },
      ]),
    );
    expect(content).toEqual([{ type: "text", text: "18" }]);
    expect(structuredContent).toMatchObject({ text: "18" });
  });

  it("names files that are too large instead of including them", () => {
    const raw = "A".repeat(6 * 2 ** 20);
    const small = { raw: "AAAA", mediaType: "application/zip" };
    const parts = [{ raw, filename: "film.mp4", mediaType: "video/mp4" }, small];
    const { content, structuredContent } = toCallToolResult(
      createTaskResponse([{ artifactId: "film", parts }]),
    );
    expect(content[0]).toEqual({
      type: "text",
      text: "(film.mp4 video/mp4 is too large for this result: 4.5 MiB. The file is in the task.)",
    });
    expect(content[1]).toMatchObject({ type: "resource", resource: { blob: "AAAA" } });
    expect(structuredContent).toMatchObject({
      artifacts: [{ parts: [{ file: { name: "film.mp4", bytes: 4.5 * 2 ** 20 } }, { file: { bytes: 3 } }] }],
    });
  });

  it("includes the data of messages in addition to artifacts", () => {
    const message = {
      messageId: "m",
      role: "ROLE_AGENT" as const,
      parts: [{ text: "Allowed?" }, { data: { id: "call-1" } }],
    };
    const { content, structuredContent } = toCallToolResult(
      createTaskResponse([{ artifactId: "a", parts: [{ text: "So far." }] }], {
        state: "TASK_STATE_INPUT_REQUIRED",
        message,
      }),
    );
    expect(content.slice(0, 3)).toEqual([
      { type: "text", text: "So far." },
      { type: "text", text: "Allowed?" },
      { type: "text", text: '{"id":"call-1"}' },
    ]);
    expect((content[3] as { text: string }).text).toContain("the answer as the message or as data.");
    expect(structuredContent).toMatchObject({
      text: "So far.\n\nAllowed?",
      artifacts: [{ artifactId: "a" }, { artifactId: "status-message", parts: [{ data: { id: "call-1" } }] }],
    });
  });

  it("lists every violation of an error", () => {
    const error = A2AError.invalidParams([
      { field: "a", description: "is missing" },
      { field: "b", description: "is too long" },
    ]);
    expect(toCallToolError(error)).toEqual({
      content: [{ type: "text", text: "a: is missing (and 1 more)\nb: is too long" }],
      isError: true,
    });
  });
});
