/** Calls our server with Mastra's A2AAgent: `client.ts FOLDER URL SECURED_URL TOKEN`. */
import assert from "node:assert/strict";
import { loadInstalledPackage, reportOutcomes } from "../report-outcomes.ts";

/** The part of Mastra's A2AAgent that this program uses. */
interface MastraAgent {
  generate(messages: unknown, options?: object): Promise<MastraResult>;
  resumeGenerate(data: unknown, options?: object): Promise<MastraResult>;
  stream(messages: unknown, options?: object): Promise<{ fullStream: AsyncIterable<MastraStreamChunk> }>;
}

interface MastraResult {
  readonly text: string;
  readonly finishReason?: string;
  readonly suspendPayload?: unknown;
  readonly task?: { readonly status: { readonly state: string } };
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

async function streamText(remote: MastraAgent, message: string): Promise<string> {
  const chunks: string[] = [];
  const { fullStream } = await remote.stream(message);
  for await (const { type, payload } of fullStream)
    if (type === "text-delta") chunks.push(payload?.text ?? "");
  return chunks.join("");
}

await reportOutcomes({
  async send() {
    assert.equal((await connectTo(url).generate("count")).text, "one two three");
  },
  async stream() {
    assert.equal(await streamText(connectTo(url), "count"), "one two three");
  },
  async "1.0 stream"() {
    assert.equal(await streamText(connectTo(url, { protocolVersion: "1.0" }), "count"), "one two three");
  },
  async "follow-up"() {
    const remote = connectTo(url);
    const question = await remote.generate("ask", { runId: "follow-up" });
    assert.equal(question.finishReason, "suspended");
    const answer = await remote.resumeGenerate("blue", { runId: "follow-up" });
    assert.equal(answer.text, "got blue");
  },
  async "auth required"() {
    const { text, finishReason, suspendPayload } = await connectTo(url).generate("sign in");
    assert.match(`${text}${finishReason}${JSON.stringify(suspendPayload)}`, /Sign in first|suspended/);
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
