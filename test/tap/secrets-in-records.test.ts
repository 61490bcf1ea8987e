/** Sends many forms of secrets through a server, the tap, a client, and a console, and looks for them in all records. */
import { describe, expect, it, onTestFinished } from "vitest";
import { connect } from "../../src/client/index.ts";
import { ConsoleTestServer } from "../../src/studio/console/console.fixture.ts";
import type { Agent } from "../../src/engine/index.ts";
import { createLogObserver } from "../../src/observe/logging/index.ts";
import type { Part } from "../../src/protocol/index.ts";
import { apiKeys, generateApiKey } from "../../src/server/auth/index.ts";
import { createServer } from "../../src/server/index.ts";
import {
  createMemoryTrafficSink,
  createTrafficWriter,
  type TrafficWriter,
} from "../../src/observe/trace/recording/index.ts";
import { READABLE_TEXTS, SECRET_FORMS } from "../support/secret-forms.ts";
import { startTestTap, waitForLines } from "./tapped-record.ts";

const FORMS = SECRET_FORMS.map(({ text }) => text);
const PARTS: Part[] = [
  ...[...FORMS, ...READABLE_TEXTS].map((text) => ({ text })),
  { data: { note: "data", headers: { authorization: "Basic abc" }, pwd: SECRET_FORMS[0]?.secret ?? "" } },
];

/** Repeats the parts of the message, and fails afterwards if the message says so. */
const echo: Agent = {
  describe: () => ({ name: "echo", description: "Repeats" }),
  async *execute({ message: { parts, metadata } }) {
    yield { artifact: { artifactId: "a", parts } };
    if (metadata?.["fails"] === true) throw new Error(`The tool failed:\n${FORMS.join("\n")}`);
    yield { status: { state: "TASK_STATE_COMPLETED" } };
  },
};

function openRecord(vantage: "server" | "client"): {
  writer: TrafficWriter;
  readText: () => Promise<string>;
} {
  const sink = createMemoryTrafficSink();
  const writer = createTrafficWriter(sink, { vantage, name: vantage });
  return {
    writer,
    readText: async () => {
      await writer.flush();
      return sink.text();
    },
  };
}

/** Returns the secrets that a text contains, in the form of the text or of JSON. */
function findSecrets(text: string, secrets: readonly string[]): string[] {
  return secrets.filter(
    (secret) => text.includes(JSON.stringify(secret).slice(1, -1)) || text.includes(secret),
  );
}

const SECRETS = SECRET_FORMS.map(({ secret }) => secret);

describe("secrets in messages, errors, and credentials", () => {
  it.each([
    { in: "query", name: "k" },
    { in: "header", name: "X-Team" },
    { in: "cookie", name: "sid" },
  ] as const)("are in no record and no log, with an API key in the $in $name", async (location) => {
    const { key, storedKey } = generateApiKey({ principal: "ada" });
    const serverRecord = openRecord("server");
    const clientRecord = openRecord("client");
    const logLines: string[] = [];
    const server = createServer(
      { echo },
      {
        store: "memory",
        authenticate: apiKeys({ ...location, keys: [storedKey] }),
        record: serverRecord.writer,
        observer: createLogObserver({ format: "json", requests: true, write: (line) => logLines.push(line) }),
      },
    );
    const { url } = await server.listen();
    const tap = await startTestTap([`${url}/a2a/echo`]);
    onTestFinished(async () => {
      await tap.close();
      await server.close({ graceMs: 0 });
    });
    const client = await connect(tap.url, { auth: { apiKey: key }, record: clientRecord.writer });
    await client.send({ parts: PARTS }, { headers: { "idempotency-key": "order-17" } });
    await client.send({ parts: PARTS, metadata: { fails: true } });
    const challenge = await fetch(`${tap.url}/message:send`, { method: "POST", body: "{}" });
    expect(challenge.status).toBe(401);
    await waitForLines(tap, (lines) => lines.some((line) => line.kind === "response" && line.status === 401));
    const tapText = (await tap.readLines()).map((line) => JSON.stringify(line)).join("\n");
    const texts = {
      server: await serverRecord.readText(),
      client: await clientRecord.readText(),
      tap: tapText,
      log: logLines.join(""),
    };
    const visible = { server: 0, client: 0, tap: 0, log: 0 };
    for (const [name, text] of Object.entries(texts)) {
      expect([name, findSecrets(text, [...SECRETS, key])]).toEqual([name, []]);
      visible[name as keyof typeof visible] =
        text.split("machine git.example login ada password ***").length - 1;
    }
    // The forms passed through every record: in messages, artifacts, tasks, and the error.
    expect(Object.values(visible).every((count) => count > 0)).toBe(true);
    for (const readable of READABLE_TEXTS) expect(texts.tap).toContain(JSON.stringify(readable));
    const { headers: challengeHeaders } = JSON.parse(
      tapText.split("\n").find((line) => line.includes('"status":401')) ?? "{}",
    ) as { headers: Record<string, string> };
    expect(challengeHeaders["www-authenticate"]).toBe(challenge.headers.get("www-authenticate"));
    for (const text of [texts.server, texts.client, texts.tap])
      expect(text).toContain('"idempotency-key":"order-17"');
  });

  it("are not in the lines, tasks, and lists of the console", async () => {
    const started = await ConsoleTestServer.start({ echo });
    onTestFinished(() => started.close());
    const lines: unknown[] = [];
    for await (const line of started.stream("echo", { parts: PARTS })) lines.push(line);
    const list = await started.readJson<{ tasks: { id: string }[] }>("GET tasks");
    const taskId = list.tasks[0]?.id ?? "";
    const texts = [
      JSON.stringify(lines),
      JSON.stringify(list),
      JSON.stringify(await started.readJson(`GET agents/echo/tasks/${taskId}`)),
      JSON.stringify(await started.readTaskLines("echo", taskId)),
      await (await started.request("GET observed-lines")).text(),
    ];
    for (const text of texts) expect(findSecrets(text, SECRETS)).toEqual([]);
    expect(texts.filter((text) => text.includes("machine git.example login ada password ***"))).toHaveLength(
      4,
    );
  });
});
