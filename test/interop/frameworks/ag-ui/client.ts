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

/** Runs one turn. Returns the text that AG-UI shows, and the A2A events that AG-UI passes on unread. */
async function runTurn(
  threadId: string,
  ...texts: readonly string[]
): Promise<{ text: string; raw: string }> {
  const remote = new A2AAgent({ a2aClient: new A2AClient(url) });
  const messages = texts.map((content, index) => ({ id: `m-${threadId}-${index}`, role: "user", content }));
  const events: AgUiEvent[] = [];
  await new Promise<void>((resolve, reject) => {
    remote
      .run({ threadId, runId: `r-${threadId}-${texts.length}`, messages, tools: [], context: [], state: {} })
      .subscribe({
        next: (event) => void events.push(event),
        error: reject,
        complete: resolve,
      });
  });
  return {
    text: events.map(({ delta = "" }) => delta).join(""),
    raw: events.flatMap(({ event }) => listArtifactTexts(event)).join(""),
  };
}

function listArtifactTexts(event: unknown): string[] {
  const { kind, artifact } = (event ?? {}) as {
    kind?: string;
    artifact?: { parts: readonly { text?: string }[] };
  };
  return kind === "artifact-update" && artifact ? artifact.parts.map(({ text = "" }) => text) : [];
}

await reportOutcomes({
  async stream() {
    assert.equal((await runTurn("stream", "count")).text, "one two three");
  },
  async "raw events"() {
    assert.match((await runTurn("raw", "count")).raw, /one two three$/);
  },
  async "follow-up"() {
    assert.equal((await runTurn("question", "ask")).text, "Which color?");
  },
  async "auth required"() {
    assert.equal((await runTurn("sign-in", "sign in")).text, "Sign in first.");
  },
  async failure() {
    assert.equal((await runTurn("fail", "fail")).text, "no credit");
  },
});
