import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect, readText, type A2AClient } from "../../../src/entries/client.ts";
import { findTestPort } from "../../support/test-ports.ts";
import { findTestDatabase } from "../../support/find-test-postgres.ts";
import { warnAboutSkippedTests } from "../../support/warn-about-skipped-tests.ts";
import { findCaddy, startComposeBalancer, startComposeNode, type ComposeProcess } from "./compose-parts.ts";

const caddy = findCaddy();
if (caddy === undefined) warnAboutSkippedTests("Tests of deploy/compose.yaml", "install the package caddy.");
const { url: databaseUrl, reason } =
  caddy === undefined ? { url: "", reason: "no Caddy" } : await findTestDatabase();

const TOKEN = "compose-token-of-tests";
/** Ends its stream as soon as the file exists that the message names. */
const WAITING_AGENT = `
import { existsSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { agent } from "colloquy";
export default agent({ name: "waiting", description: "Waits for a file" }, async function* ({ text }) {
  yield "first ";
  while (!existsSync(text)) await pause(10);
  yield "second";
});`;

describe.skipIf(reason)("the parts of deploy/compose.yaml, started without Docker", () => {
  let folder: string;
  let nodes: [ComposeProcess, ComposeProcess];
  let balancer: ComposeProcess;
  let clients: Record<"hello" | "waiting", A2AClient>;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "colloquy-compose-"));
    const agents = join(folder, "agents");
    cpSync(new URL("../../../deploy/agents", import.meta.url), agents, { recursive: true });
    writeFileSync(join(agents, "waiting.ts"), WAITING_AGENT);
    const port = await findTestPort();
    const options = { databaseUrl, agents, publicUrl: `http://127.0.0.1:${port}`, token: TOKEN };
    nodes = await Promise.all([startComposeNode(options), startComposeNode(options)]);
    balancer = await startComposeBalancer(caddy ?? "", port, nodes);
    const connectTo = (id: string): Promise<A2AClient> =>
      connect(`${balancer.url}/a2a/${id}`, { auth: { bearer: TOKEN }, retry: { maxRetries: 0 } });
    clients = { hello: await connectTo("hello"), waiting: await connectTo("waiting") };
  });

  afterAll(async () => {
    await Promise.all([balancer, ...(nodes ?? [])].map((part) => part?.kill()));
    rmSync(folder, { recursive: true, force: true });
  });

  it("refuse callers without the token", async () => {
    const headers = { "content-type": "application/json", "a2a-version": "1.0" };
    const response = await fetch(`${balancer.url}/a2a/hello/tasks`, { headers });
    expect(response.status).toBe(401);
  });

  it("pass each event of a stream on at once", async () => {
    const file = join(folder, "end");
    const texts: string[] = [];
    for await (const text of readText(clients.waiting.stream(file))) {
      texts.push(text);
      // The agent ends its stream only after the client has received the first event.
      if (texts.length === 1) writeFileSync(file, "");
    }
    expect(texts.join("")).toBe("first second");
  });

  it("share tasks, whichever node answers", async () => {
    const sent = await Promise.all(Array.from({ length: 8 }, () => clients.hello.ask("Ada")));
    for (const { task } of sent)
      for (const node of nodes) {
        const headers = { authorization: `Bearer ${TOKEN}`, "a2a-version": "1.0" };
        const response = await fetch(`${node.url}/a2a/hello/tasks/${task?.id}`, { headers });
        expect(await response.json()).toMatchObject({ status: { state: "TASK_STATE_COMPLETED" } });
      }
  });

  it("answer every request after a node was killed", async () => {
    await nodes[0].kill("SIGKILL");
    for (let round = 0; round < 20; round++)
      expect((await clients.hello.ask("Ada")).text).toBe("Hello, Ada! Nice to meet you.");
  });
});
