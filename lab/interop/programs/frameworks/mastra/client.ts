/** Calls our server with Mastra's A2AAgent: `client.ts FOLDER URL SECURED_URL TOKEN`. */
import assert from "node:assert/strict";
import { loadInstalledPackage, reportOutcomes } from "../report-outcomes.ts";

/** The part of Mastra's A2AAgent that this program uses. */
interface MastraAgent {
  generate(messages: unknown, options?: object): Promise<MastraResult>;
  resumeGenerate(data: unknown, options?: object): Promise<MastraResult>;
  stream(messages: unknown, options?: object): Promise<MastraStreamResult>;
  resumeStream(data: unknown, options?: object): Promise<MastraStreamResult>;
}

interface MastraStreamResult {
  readonly fullStream: AsyncIterable<MastraStreamChunk>;
}

interface MastraResult {
  readonly text: string;
  readonly finishReason?: string;
  readonly suspendPayload?: unknown;
  readonly task?: MastraTask;
}

interface MastraTask {
  readonly status: { readonly state: string };
  readonly artifacts?: readonly { readonly parts: readonly unknown[] }[];
}

interface MastraStreamChunk {
  readonly type: string;
  readonly payload?: { readonly text?: string };
}

const [folder = "", url = "", securedUrl = "", token = ""] = process.argv.slice(2);
const { A2AAgent } = loadInstalledPackage(folder, "@mastra/core/a2a") as {
  A2AAgent: new (options: object) => MastraAgent;
};
const connectTo = (address: string, options: object = {}): MastraAgent =>
  new A2AAgent({ url: `${address}/.well-known/agent-card.json`, ...options });

async function readText({ fullStream }: MastraStreamResult): Promise<string> {
  const chunks: string[] = [];
  for await (const { type, payload } of fullStream)
    if (type === "text-delta") chunks.push(payload?.text ?? "");
  return chunks.join("");
}

await reportOutcomes({
  async send() {
    assert.equal((await connectTo(url).generate("count")).text, "one two three");
  },
  async stream() {
    assert.equal(await readText(await connectTo(url).stream("count")), "one two three");
  },
  async "1.0 stream"() {
    assert.equal(
      await readText(await connectTo(url, { protocolVersion: "1.0" }).stream("count")),
      "one two three",
    );
  },
  async question() {
    const { finishReason, suspendPayload } = await connectTo(url).generate("ask");
    assert.equal(finishReason, "suspended");
    assert.match(JSON.stringify(suspendPayload), /Which color\?/);
  },
  async "follow-up"() {
    const remote = connectTo(url);
    await remote.generate("ask", { runId: "follow-up" });
    const answer = await remote.resumeGenerate("blue", { runId: "follow-up" });
    assert.equal(answer.text, "got blue");
  },
  async "follow-up stream"() {
    const remote = connectTo(url);
    await remote.generate("ask", { runId: "follow-up-stream" });
    const answer = await readText(await remote.resumeStream("blue", { runId: "follow-up-stream" }));
    assert.equal(answer, "got blue");
  },
  async "sign-in"() {
    const { finishReason, suspendPayload } = await connectTo(url).generate("sign in");
    assert.equal(finishReason, "suspended");
    assert.match(JSON.stringify(suspendPayload), /Sign in first\./);
  },
  async files() {
    const { task } = await connectTo(url).generate("files");
    const [, file, data] = task?.artifacts?.flatMap(({ parts }) => parts) ?? [];
    assert.partialDeepStrictEqual(file, { file: { bytes: "iVBORw0KGgo=", name: "dot.png" } });
    assert.partialDeepStrictEqual(data, { data: { width: 1 } });
  },
  async "sent files"() {
    const image = { type: "file", data: "iVBORw0KGgo=", mediaType: "image/png", mimeType: "image/png" };
    const content = [{ type: "text", text: "receive" }, image];
    assert.equal(
      (await connectTo(url).generate([{ role: "user", content }])).text,
      "Received: text iVBORw0KGgo=",
    );
  },
  async failure() {
    const { text, task } = await connectTo(url).generate("fail");
    assert.deepEqual([text, task?.status.state], ["Partly. \nno credit", "failed"]);
  },
  async "auth headers"() {
    const headers = { Authorization: `Bearer ${token}` };
    assert.equal((await connectTo(securedUrl, { headers }).generate("count")).text, "one two three");
  },
});
