import { createServer as createHttpServer } from "node:http";
import { mkdtempSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { connect } from "../../client/index.ts";
import type { Agent } from "../../engine/index.ts";
import type { AgentCard, Task } from "../../protocol/index.ts";
import { bearer } from "../../server/auth/index.ts";
import { createServer, type Server, type ServerOptions } from "../../server/index.ts";
import { messageCommandTestAgent } from "../../server/server.fixture.ts";
import { openTrafficRecord } from "../../observe/trace/recording/index.ts";
import type { TrafficLine } from "../../observe/trace/index.ts";
import type {
  ConsoleAgent,
  ConsoleAgentList,
  ConsoleCardReport,
  ConsoleTaskList,
} from "../console-api/index.ts";
import { ConsoleTestServer, collectTestLines, findTestTaskId, readTestLines } from "./console.fixture.ts";

let remote: Server;
let console: ConsoleTestServer;
afterEach(async () => {
  await console.close();
  await remote.close();
});

/** Starts a remote server with one agent, and a console without own agents. */
async function start(
  options: ServerOptions = {},
  agent: Agent = messageCommandTestAgent,
): Promise<ConsoleAgent> {
  remote = createServer({ parrot: agent }, { store: "memory", observer: false, ...options });
  const { url } = await remote.listen();
  console = await ConsoleTestServer.start({}, {}, { mode: "console", agentUrls: [`${url}/a2a/parrot`] });
  const { agents } = await console.readJson<ConsoleAgentList>("GET agents");
  return agents[0] as ConsoleAgent;
}

const listKinds = (lines: readonly TrafficLine[]): string[] => [...new Set(lines.map(({ kind }) => kind))];

describe.each(["1.0", "0.3"] as const)("a remote agent of A2A %s in the console", (version) => {
  it("answers, lists its tasks, and has lines, a card, and cancellations", async () => {
    const { id, ...agent } = await start({ versions: [version] });
    expect(agent).toMatchObject({
      name: "parrot",
      status: "connected",
      isOwn: false,
      versions: [expect.stringContaining(version)],
    });
    const lines = await console.send(id, "echo hello");
    expect(listKinds(lines)).toEqual(expect.arrayContaining(["request", "response", "frame", "stream-end"]));
    const taskId = findTestTaskId(lines);
    const { tasks, problems } = await console.readJson<ConsoleTaskList>("GET tasks");
    expect(problems).toEqual([]);
    expect(tasks).toMatchObject([{ agent: id, id: taskId, state: "TASK_STATE_COMPLETED" }]);
    const task = await console.readJson<Task>(`GET agents/${id}/tasks/${taskId}`);
    expect(JSON.stringify(task.artifacts)).toContain("hello");
    expect(listKinds(await console.readTaskLines(id, taskId))).toContain("frame");
    const waiting = findTestTaskId(await console.send(id, "ask"));
    const canceled = await console.readJson<Task>(`POST agents/${id}/tasks/${waiting}/cancel`);
    expect(canceled.status.state).toBe("TASK_STATE_CANCELED");
    const report = await console.readJson<ConsoleCardReport>(`GET agents/${id}/card`);
    expect(report.card["name"]).toBe("parrot");
    expect(report.observed.map(({ isConsistent }) => isConsistent)).toEqual(report.observed.map(() => true));
    expect(report.observed.map(({ claim }) => claim)).toContain("capabilities.streaming: true");
  });
});

describe("an agent that offers only gRPC", () => {
  /** Starts a server whose card has only the gRPC interface, and returns the URL of the card. */
  async function serveGrpcCard(): Promise<string> {
    remote = createServer({ parrot: messageCommandTestAgent }, { store: "memory", observer: false });
    const { agents } = await remote.listen({ grpc: true });
    const headers = { "a2a-version": "1.0" };
    const card = (await (await fetch(agents[0]?.cardUrl ?? "", { headers })).json()) as AgentCard;
    const supportedInterfaces = card.supportedInterfaces.filter(
      ({ protocolBinding }) => protocolBinding === "GRPC",
    );
    const body = JSON.stringify({ ...card, supportedInterfaces });
    const http = createHttpServer((_request, response) => {
      response.writeHead(200, { "content-type": "application/json" }).end(body);
    });
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void http.close());
    return `http://127.0.0.1:${(http.address() as AddressInfo).port}/`;
  }

  it("answers", async () => {
    const url = await serveGrpcCard();
    console = await ConsoleTestServer.start({}, {}, { agentUrls: [url] });
    const [agent] = (await console.readJson<ConsoleAgentList>("GET agents")).agents;
    expect(agent).toMatchObject({ status: "connected", binding: "GRPC" });
    const lines = await console.send(agent?.id ?? "", "echo hello");
    expect(JSON.stringify(lines)).toContain("TASK_STATE_COMPLETED");
    expect(lines.find(({ kind }) => kind === "request")).toMatchObject({ binding: "GRPC" });
  });

  it("is not called by a console that may not call private hosts [SEC-67]", async () => {
    const url = await serveGrpcCard();
    console = await ConsoleTestServer.start({}, {}, { agentUrls: [url], allowPrivate: false });
    const [agent] = (await console.readJson<ConsoleAgentList>("GET agents")).agents;
    expect(agent).toMatchObject({
      status: "degraded",
      error: expect.stringContaining("only gRPC") as unknown,
    });
    await expect(console.send(agent?.id ?? "", "echo hello")).rejects.toThrow("PERMISSION_DENIED");
  });
});

describe("a stream of a remote agent", () => {
  it("resumes without a gap after the user has cut its connection", async () => {
    const steps = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow: Agent = {
      ...messageCommandTestAgent,
      async *execute() {
        for (const [at, { promise }] of steps.entries()) {
          yield {
            artifact: { artifactId: "a", parts: [{ text: `${at} ` }] },
            ...(at > 0 ? { append: true } : {}),
          };
          await promise;
        }
        yield { artifact: { artifactId: "a", parts: [{ text: "end" }] }, append: true };
      },
    };
    const { id } = await start({ mergeChunks: false }, slow);
    const lines: TrafficLine[] = [];
    for await (const line of console.stream(id, { parts: [{ text: "go" }] })) {
      lines.push(line);
      if (
        !JSON.stringify(line).includes('"0 "') ||
        line.kind !== "frame" ||
        lines.some(({ kind }) => kind === "stream-end")
      )
        continue;
      const cut = await console.request(`POST agents/${id}/streams/${line.call}/cut`);
      expect(cut.status).toBe(204);
      for (const { resolve } of steps) resolve();
    }
    const ends = lines.filter((line) => line.kind === "stream-end");
    expect(ends.map(({ reason }) => reason)).toEqual(["cut", "completed"]);
    const texts = lines.flatMap((line) => (line.kind === "frame" ? [JSON.stringify(line.event)] : []));
    for (const text of ['"0 "', '"1 "', '"end"'])
      expect(texts.filter((one) => one.includes(text))).toHaveLength(1);
    const unknown = await console.request(`POST agents/${id}/streams/c999/cut`);
    expect(unknown.status).toBe(404);
  });

  it("continues at the agent after the page has closed it, and another subscription follows it", async () => {
    const { id } = await start();
    const stop = new AbortController();
    let taskId = "";
    try {
      for await (const line of console.stream(id, { parts: [{ text: "wait" }] }, { signal: stop.signal })) {
        taskId ||= findTestTaskId([line]);
        if (taskId !== "") stop.abort();
      }
    } catch {
      // The page has closed the stream.
    }
    expect((await console.readJson<Task>(`GET agents/${id}/tasks/${taskId}`)).status.state).toBe(
      "TASK_STATE_WORKING",
    );
    const followed = await console.request(`POST agents/${id}/tasks/${taskId}/subscribe?after=0`);
    const reading = collectTestLines(readTestLines(followed));
    await console.request(`POST agents/${id}/tasks/${taskId}/cancel`);
    expect(JSON.stringify(await reading)).toContain("TASK_STATE_CANCELED");
  });
});

describe("an agent that requires credentials", () => {
  it("asks the user to sign in, and never receives or shows the credentials of another agent", async () => {
    const secret = "token-of-the-user-of-the-console";
    const { id, status, signIn } = await start({ authenticate: bearer({ tokens: { [secret]: "ada" } }) });
    expect(signIn).toMatchObject([{ scheme: "bearer", kind: "bearer" }, { kind: "headers" }]);
    expect(status).toBe("connected");
    await expect(console.send(id, "echo x")).rejects.toThrow("UNAUTHENTICATED");
    const { agents } = await console.readJson<ConsoleAgentList>("GET agents");
    expect(agents).toMatchObject([{ status: "auth-needed" }]);
    const signedIn = await console.request(`PUT agents/${id}/credentials`, {
      body: { scheme: "bearer", values: { token: secret } },
    });
    expect(signedIn.status).toBe(200);
    const answer = await console.send(id, "echo x");
    expect(JSON.stringify(answer)).toContain("TASK_STATE_COMPLETED");
    expect(JSON.stringify(answer)).not.toContain(secret);
    expect(await signedIn.text()).not.toContain(secret);
    expect(await (await console.request("GET agents")).text()).not.toContain(secret);
    const signedOut = await console.readJson<ConsoleAgent>(`DELETE agents/${id}/credentials`);
    expect(signedOut.credentials).toEqual([]);
    // The agent no longer lists the tasks of the user, and the list has the tasks that the console has observed.
    const { tasks, problems } = await console.readJson<ConsoleTaskList>("GET tasks");
    expect(tasks).toMatchObject([{ agent: id, state: "TASK_STATE_COMPLETED" }]);
    expect(problems).toMatchObject([{ agent: id }]);
    await expect(console.send(id, "echo x")).rejects.toThrow("UNAUTHENTICATED");
  });
});

describe("the headers of a user", () => {
  it("are sent to the agent, and secret ones are not shown", async () => {
    const seen: (string | undefined)[] = [];
    const { id } = await start({
      authenticate: ({ header }) => {
        seen.push(header("x-gateway-key"));
        return { principal: "anybody", tenant: "" };
      },
    });
    const put = async (headers: string): Promise<Response> =>
      await console.request(`PUT agents/${id}/credentials`, {
        body: { scheme: "standard:headers", values: { headers } },
      });
    expect((await put("X-Gateway-Key: acme-secret\n\nX-Acme: acme-hidden")).status).toBe(200);
    const answer = JSON.stringify(await console.send(id, "echo x"));
    expect(answer).toContain("TASK_STATE_COMPLETED");
    expect(new Set(seen)).toEqual(new Set(["acme-secret"]));
    expect(answer + (await (await console.request("GET agents")).text())).not.toMatch(
      /acme-secret|acme-hidden/,
    );
    const { credentials } = await console.readJson<ConsoleAgent>(`DELETE agents/${id}/credentials`);
    expect(credentials).toEqual([]);
    seen.length = 0;
    await console.send(id, "echo x");
    expect(new Set(seen)).toEqual(new Set([undefined]));
  });

  it.each([
    ["Host: elsewhere", "line 1 is a header that the console sets"],
    ["Expect: 100-continue", "line 1 is a header that the console sets"],
    ["X-Fine: 1\nno header", "line 2 is no header such as X-Tenant: acme"],
    [" \n", "must not be empty"],
  ])("%j are refused", async (headers, reason) => {
    const { id } = await start();
    const refused = await console.request(`PUT agents/${id}/credentials`, {
      body: { scheme: "standard:headers", values: { headers } },
    });
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain(reason);
  });
});

describe("the tasks of a remote agent", () => {
  const list = async (query = ""): Promise<ConsoleTaskList["tasks"]> =>
    (await console.readJson<ConsoleTaskList>(`GET tasks${query}`)).tasks;

  it("stay in the list with their questions after the agent has forgotten them", async () => {
    const file = join(mkdtempSync(join(tmpdir(), "console-")), "record.jsonl");
    const serve = async (): Promise<{ id: string; close: () => Promise<void> }> => {
      const { writer: record, close } = openTrafficRecord(file, {
        vantage: "server",
        name: "test",
        code: "test",
      });
      remote = createServer(
        { parrot: messageCommandTestAgent },
        { store: "memory", observer: false, record },
      );
      const agentUrls = [`${(await remote.listen()).url}/a2a/parrot`];
      const options = { agentUrls, serverRecord: record, serverRecordFile: file };
      console = await ConsoleTestServer.start({}, {}, options);
      const { agents } = await console.readJson<ConsoleAgentList>("GET agents");
      return { id: agents[0]?.id ?? "", close };
    };
    const before = await serve();
    const taskId = findTestTaskId(await console.send(before.id, "echo hello"));
    const waiting = findTestTaskId(await console.send(before.id, "ask"));
    expect((await list()).map((task) => [task.id, task.preview])).toEqual([
      [waiting, "ask"],
      [taskId, "echo hello"],
    ]);
    await console.close();
    await remote.close();
    await before.close();

    const { id, close } = await serve();
    const newId = findTestTaskId(await console.send(id, "echo again"));
    const tasks = await list();
    // The last observed state of a forgotten task that did not end says nothing about its present state.
    expect(tasks.map((task) => [task.id, task.preview])).toEqual([
      [newId, "echo again"],
      [taskId, "echo hello"],
    ]);
    expect(tasks[1]).toMatchObject({ agent: id, state: "TASK_STATE_COMPLETED" });
    const task = await console.readJson<Task>(`GET agents/${id}/tasks/${taskId}`);
    expect(JSON.stringify(task.artifacts)).toContain("hello");
    await close();
  });

  it("have the beginning of a reply, which is named so, if the console knows no text of their question", async () => {
    const reply = { state: "TASK_STATE_INPUT_REQUIRED" as const, message: { parts: [{ text: "what?" }] } };
    const asking: Agent = {
      ...messageCommandTestAgent,
      async *execute() {
        yield { status: reply };
      },
    };
    await start({}, asking);
    const client = await connect((await remote.listen()).url);
    await client.ask({ parts: [{ data: { city: "Seoul" } }] });
    await client.ask({ parts: [{ text: "Where?" }] });
    const [asked, answered] = await list();
    expect(asked).toMatchObject({ preview: "Where?" });
    expect(asked).not.toHaveProperty("isReply");
    expect(answered).toMatchObject({ preview: "what?", isReply: true });
  });
});

describe("an unreachable agent", () => {
  it("is shown with the problem, and does not hide the tasks of the others", async () => {
    const { id } = await start();
    await console.send(id, "echo x");
    const closed = await ConsoleTestServer.start({});
    await closed.close();
    const added = await console.readJson<ConsoleAgent>("POST agents", { body: { url: closed.url } });
    expect(added).toMatchObject({
      status: "unreachable",
      error: expect.stringContaining("ECONNREFUSED") as unknown,
    });
    const { tasks, problems } = await console.readJson<ConsoleTaskList>("GET tasks");
    expect([tasks.length, problems.map(({ agent }) => agent)]).toEqual([1, [added.id]]);
    expect((await console.request(`DELETE agents/${added.id}`)).status).toBe(204);
    expect((await console.request(`DELETE agents/${id}`)).status).toBe(404);
    expect((await console.request(`GET agents/${added.id}/card`)).status).toBe(404);
  });
});
