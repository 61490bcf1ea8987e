/** Calls our server with AG-UI's A2AAgent: `client.ts FOLDER URL SECURED_URL TOKEN`. */
import assert from "node:assert/strict";
import { loadInstalledPackage, reportOutcomes } from "../report-outcomes.ts";

interface AgUiEvent {
  readonly type: string;
  readonly delta?: string;
  readonly message?: string;
  /** The A2A event of a RAW event. */
  readonly event?: unknown;
}

interface AgUiAgent {
  run(input: object): {
    subscribe(observer: {
      next(event: AgUiEvent): void;
      error(error: unknown): void;
      complete(): void;
    }): unknown;
  };
}

const [folder = "", url = ""] = process.argv.slice(2);
const { A2AAgent } = loadInstalledPackage(folder, "@ag-ui/a2a") as {
  A2AAgent: new (options: object) => AgUiAgent;
};
const { A2AClient } = loadInstalledPackage(folder, "@a2a-js/sdk/client") as {
  A2AClient: new (url: string) => unknown;
};

/** Runs one turn. Returns the text that AG-UI shows, and the parts of artifacts that AG-UI passes on unread. */
async function runTurn(
  threadId: string,
  content: string | readonly unknown[],
): Promise<{ text: string; rawParts: readonly A2APart[] }> {
  const remote = new A2AAgent({ a2aClient: new A2AClient(url) });
  const messages = [{ id: `m-${threadId}`, role: "user", content }];
  const events: AgUiEvent[] = [];
  await new Promise<void>((resolve, reject) => {
    remote.run({ threadId, runId: `r-${threadId}`, messages, tools: [], context: [], state: {} }).subscribe({
      next: (event) => void events.push(event),
      error: reject,
      complete: resolve,
    });
  });
  return {
    text: events.map(({ delta = "" }) => delta).join(""),
    rawParts: events.flatMap(({ event }) => listArtifactParts(event)),
  };
}

/** A part of A2A 0.3. */
interface A2APart {
  readonly text?: string;
  readonly file?: { readonly name?: string; readonly bytes?: string };
}

function listArtifactParts(event: unknown): readonly A2APart[] {
  const { kind, artifact } = (event ?? {}) as {
    kind?: string;
    artifact?: { parts: readonly A2APart[] };
  };
  return kind === "artifact-update" && artifact ? artifact.parts : [];
}

const joinTexts = (parts: readonly A2APart[]): string => parts.map(({ text = "" }) => text).join("");

await reportOutcomes({
  async stream() {
    assert.equal((await runTurn("stream", "count")).text, "one two three");
  },
  async "raw events"() {
    assert.match(joinTexts((await runTurn("raw", "count")).rawParts), /one two three$/);
  },
  async question() {
    assert.equal((await runTurn("question", "ask")).text, "Which color?");
  },
  async "sign-in"() {
    assert.equal((await runTurn("sign-in", "sign in")).text, "Sign in first.");
  },
  async "sent files"() {
    const image = { type: "binary", mimeType: "image/png", data: "iVBORw0KGgo=", filename: "dot.png" };
    const sent = await runTurn("send-files", [{ type: "text", text: "receive" }, image]);
    assert.match(joinTexts(sent.rawParts), /Received: text iVBORw0KGgo=$/);
  },
  async files() {
    const { rawParts } = await runTurn("files", "files");
    const files = rawParts.flatMap(({ file }) => (file ? [`${file.name} ${file.bytes}`] : []));
    assert.ok(files.includes("dot.png iVBORw0KGgo="), "The file is in no RAW event.");
    // AG-UI accepts text only, so our server sends the data as JSON text.
    assert.equal(joinTexts(rawParts).endsWith('{"width":1}'), true, "The data is in no RAW event.");
  },
  async failure() {
    assert.equal((await runTurn("fail", "fail")).text, "no credit");
  },
});
