import { describe, expect, it } from "vitest";
import { A2AError, type StreamResponse, type Task } from "../protocol/index.ts";
import { OutputWriter, type OutputFormat } from "./output-writer.ts";
import { CliError } from "./cli-error.ts";
import { createTerminalStreams } from "./terminal-streams.ts";

function captureOutput(
  format: OutputFormat,
  write: (output: OutputWriter) => void,
): { out: string; err: string } {
  const written = { out: "", err: "" };
  write(
    new OutputWriter(
      createTerminalStreams(
        { out: (text) => void (written.out += text), err: (text) => void (written.err += text) },
        false,
      ),
      format,
    ),
  );
  return written;
}

const task: Task = {
  id: "t-1",
  contextId: "c-1",
  status: { state: "TASK_STATE_COMPLETED", timestamp: "2026-01-01T00:00:00.000Z" },
  history: [{ messageId: "m-1", role: "ROLE_USER", parts: [{ text: "hi" }] }],
  artifacts: [
    {
      artifactId: "a-1",
      name: "answer",
      parts: [
        { text: "Hello" },
        { data: { n: 1 } },
        { raw: "aGVsbG8=", filename: "a.txt", mediaType: "text/plain" },
        { url: "https://example.com/a.pdf", mediaType: "application/pdf" },
      ],
    },
  ],
};

it("escapes control characters in errors, hints, and warnings, which may come from an agent", () => {
  const evil = "\u001b]0;evil\u0007\u202egpj.exe";
  const { err } = captureOutput("text", (output) => {
    output.writeWarning(evil);
    output.writeError(new CliError("A2ACLI_ERR_INTERNAL", `The agent says: ${evil}`, evil));
  });
  expect(err.match(/␛]0;evil␇\ufffdgpj\.exe/g)).toHaveLength(3);
  expect(err).not.toContain("\u001b");
});

describe("a task as text", () => {
  it("has its ids, its state, and every part of its artifacts [SEND_004]", () => {
    const { out, err } = captureOutput("text", (output) => output.writeTask(task));
    expect(out).toBe(`Task: t-1
Context: c-1
State: TASK_STATE_COMPLETED
Artifact: answer
Hello

Data: answer
{
  "n": 1
}

File: a.txt, text/plain, 5 bytes
File: application/pdf, https://example.com/a.pdf
`);
    expect(err).toBe("");
  });

  it("says that data belongs to a message", () => {
    const message = { messageId: "m-2", role: "ROLE_AGENT" as const, parts: [{ data: { n: 1 } }] };
    const status = { ...task.status, message };
    const { out } = captureOutput("text", (output) => output.writeTask({ ...task, status, artifacts: [] }));
    expect(out).toContain('\nData: message\n{\n  "n": 1\n}\n');
  });

  it("has its history on request", () => {
    const { out } = captureOutput("text", (output) => output.writeTask(task, true));
    expect(out).toContain("History: ROLE_USER\nhi\n\n");
  });
});

describe("JSON", () => {
  it("is the protocol's own type, one document", () => {
    const { out } = captureOutput("json", (output) => output.writeResponse({ task }));
    expect(JSON.parse(out)).toEqual({ task });
  });

  it("is one line per event of a stream", () => {
    const events: StreamResponse[] = [
      { task },
      { statusUpdate: { taskId: "t-1", contextId: "c-1", status: task.status } },
    ];
    const { out } = captureOutput("json", (output) => {
      for (const event of events) output.writeEvent(event);
      output.writeTaskIdsAtStreamEnd({ id: "t-1", contextId: "c-1", state: "TASK_STATE_COMPLETED" });
    });
    expect(
      out
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual(events);
  });
});

describe("a stream as text", () => {
  it("shows chunks immediately in one block, and ends with the ids and the state once", () => {
    const ids = { taskId: "t-1", contextId: "c-1" };
    const chunk = (text: string, rest: object = {}): StreamResponse => ({
      artifactUpdate: { ...ids, artifact: { artifactId: "a-1", name: "answer", parts: [{ text }] }, ...rest },
    });
    const { out } = captureOutput("text", (output) => {
      output.writeEvent({ task: { id: "t-1", contextId: "c-1", status: { state: "TASK_STATE_SUBMITTED" } } });
      output.writeEvent(chunk("Hel"));
      output.writeEvent(chunk("lo", { append: true, lastChunk: true }));
      output.writeEvent({ statusUpdate: { ...ids, status: { state: "TASK_STATE_COMPLETED" } } });
      output.writeTaskIdsAtStreamEnd({ id: "t-1", contextId: "c-1", state: "TASK_STATE_COMPLETED" });
    });
    expect(out).toBe(`Task: t-1
Context: c-1
State: TASK_STATE_SUBMITTED
Artifact: answer
Hello

Task: t-1
Context: c-1
State: TASK_STATE_COMPLETED
`);
  });
});

describe("an artifact that ends with its entire content, as text", () => {
  const createUpdate = (text: string, lastChunk = false): StreamResponse => ({
    artifactUpdate: {
      taskId: "t",
      contextId: "c",
      artifact: { artifactId: "a", parts: [{ text }] },
      lastChunk,
    },
  });

  it("is shown once", () => {
    const { out } = captureOutput("text", (output) => {
      output.writeEvent(createUpdate("Hel"));
      output.writeEvent(createUpdate("Hello", true));
    });
    expect(out).toBe("Artifact: a\nHello\n\n");
  });

  it("is shown again in its own block if it differs", () => {
    const { out } = captureOutput("text", (output) => {
      output.writeEvent(createUpdate("Hel"));
      output.writeEvent(createUpdate("Hallo", true));
    });
    expect(out).toBe("Artifact: a\nHel\n\nArtifact: a\nHallo\n\n");
  });
});

describe("a failure", () => {
  it("of the protocol keeps the protocol's name [OUT_004]", () => {
    const { out } = captureOutput("json", (output) =>
      output.writeError(new CliError(A2AError.taskNotFound("t-9"))),
    );
    expect(JSON.parse(out)).toEqual({
      error: {
        code: "TaskNotFoundError",
        message: "Task t-9 was not found; check its id and your credentials.",
        hint: null,
        a2aCode: -32001,
      },
    });
  });

  it.each([
    ["A2ACLI_ERR_USAGE", 2],
    ["A2ACLI_ERR_CARD_NOT_FOUND", 3],
    ["A2ACLI_ERR_CREDENTIALS_MISSING", 4],
    ["A2ACLI_ERR_TIMEOUT", 5],
    ["A2ACLI_ERR_PORT_IN_USE", 1],
    ["A2ACLI_ERR_INTERNAL", 1],
  ] as const)("%s ends with exit code %d", (code, exitCode) => {
    expect(new CliError(code, "x").exitCode).toBe(exitCode);
  });

  it("in text format goes to stderr, and closes the open block first", () => {
    const { out, err } = captureOutput("text", (output) => {
      output.writeEvent({
        artifactUpdate: {
          taskId: "t",
          contextId: "c",
          artifact: { artifactId: "a", parts: [{ text: "half" }] },
        },
      });
      output.writeError(new CliError("A2ACLI_ERR_UNREACHABLE", "The server does not answer.", "Start it."));
    });
    expect(out).toBe("Artifact: a\nhalf\n\n");
    expect(err).toBe("error: The server does not answer. (A2ACLI_ERR_UNREACHABLE)\nhint: Start it.\n");
  });
});
