/** Tests that the page of a record marks the faults that the tap injected between two agents of the official SDK. */
import { AgentCard } from "@a2a-js/sdk";
import { type Client, JsonRpcTransportFactory } from "@a2a-js/sdk/client";
import {
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
} from "@a2a-js/sdk/server";
import { agentCardHandler, jsonRpcHandler, UserBuilder } from "@a2a-js/sdk/server/express";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  CHROMIUM_MISSING_MESSAGE,
  findChromium,
  launchChromium,
  openPageRecordingRequestsAndErrors,
  writePageToDisk,
} from "../../src/cards/html/browser.fixture.ts";
import type { RunningTestServer } from "../../src/client/a2a-client.contract.ts";
import { serveWithOfficialSdk } from "../../src/client/a2a-js-server.fixture.ts";
import { publishToA2aJsEventBus } from "../../src/client/publish-to-a2a-js-event-bus.fixture.ts";
import { SCRIPTED_TEST_AGENT_CARD, startSdkServer } from "../../src/client/sdk-server.fixture.ts";
import { renderTrafficRecord } from "../../src/studio/pages/index.ts";
import type { TaskState } from "../../src/protocol/index.ts";
import { collectEvents, createSdkClient, createTextRequest } from "../interop/sdk-client.ts";
import { startTestTap, waitForLines, type RecordingTestTap } from "./tapped-record.ts";

const hasChromium = findChromium() !== undefined;
if (!hasChromium)
  process.stderr.write(
    `The marks of injected faults are not tested in a page: ${CHROMIUM_MISSING_MESSAGE}.\n`,
  );

/** An agent of the official SDK that asks another agent, and completes whatever happens to the stream of the other. */
class AskingExecutor implements AgentExecutor {
  readonly #asked: Client;

  constructor(asked: Client) {
    this.#asked = asked;
  }

  execute = async ({ taskId, contextId }: RequestContext, bus: ExecutionEventBus): Promise<void> => {
    const publish = (state: TaskState): void =>
      publishToA2aJsEventBus(bus, { statusUpdate: { taskId, contextId, status: { state } } });
    publishToA2aJsEventBus(bus, {
      task: { id: taskId, contextId, status: { state: "TASK_STATE_SUBMITTED" } },
    });
    publish("TASK_STATE_WORKING");
    await collectEvents(this.#asked.sendMessageStream(createTextRequest("count"))).catch(() => {});
    publish("TASK_STATE_COMPLETED");
    bus.finished();
  };

  cancelTask = (): Promise<void> => Promise.resolve();
}

function serveAskingAgent(asked: Client): Promise<RunningTestServer> {
  return startSdkServer(({ url, app }) => {
    const card = AgentCard.fromJSON({
      ...SCRIPTED_TEST_AGENT_CARD,
      name: "Asking",
      supportedInterfaces: [{ url: `${url}/jsonrpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    });
    const requestHandler = new DefaultRequestHandler(
      card,
      new InMemoryTaskStore(),
      new AskingExecutor(asked),
    );
    app.use("/.well-known/agent-card.json", agentCardHandler({ agentCardProvider: requestHandler }));
    app.use("/jsonrpc", jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
  });
}

describe.skipIf(!hasChromium)("the page of a tapped record", () => {
  let browser: Browser;
  let answering: RunningTestServer;
  let asking: RunningTestServer;
  let inner: RecordingTestTap;
  let outer: RecordingTestTap;
  let user: Client;

  beforeAll(async () => {
    browser = await launchChromium();
    answering = await serveWithOfficialSdk();
    inner = await startTestTap([answering.url]);
    asking = await serveAskingAgent(
      await createSdkClient(inner.url, "JSONRPC", new JsonRpcTransportFactory()),
    );
    outer = await startTestTap([asking.url]);
    user = await createSdkClient(outer.url, "JSONRPC", new JsonRpcTransportFactory());
  });
  afterAll(async () => {
    await browser?.close();
    await outer?.close();
    await asking?.close();
    await inner?.close();
    await answering?.close();
  });

  const openRecord = async (fault: string): Promise<Page> => {
    inner.tap.faults.removeAll();
    inner.tap.faults.add(`${fault},times=1`);
    const before = (await inner.readLines()).length;
    await collectEvents(user.sendMessageStream(createTextRequest("go")));
    const lines = await waitForLines(inner, (all) =>
      all.slice(before).some(({ kind }) => kind === "stream-end"),
    );
    const others = await waitForLines(outer, (all) => all.some(({ kind }) => kind === "stream-end"));
    const recorded = lines.filter(
      (line, index) => index >= before || line.kind === "writer" || line.kind === "agent",
    );
    const html = renderTrafficRecord([...recorded, ...others], { title: fault });
    return (await openPageRecordingRequestsAndErrors(browser, await writePageToDisk(html))).page;
  };

  it.each([
    ["cut:after=3", "cut", /⚠ cut/],
    ["drop:frame=3", "gap", /⚠ gap/],
    ["duplicate:frame=4", "duplicate", /⚠ duplicate/],
  ])("marks %s in Task and in Flow [E22]", async (fault, mark, note) => {
    const page = await openRecord(fault);
    const notes = await page.locator(".sequence .notes").allTextContents();
    expect(notes.filter((text) => note.test(text))).toHaveLength(1);
    const participants = await page.locator(".sequence-participants text").allTextContents();
    expect(participants).toEqual(expect.arrayContaining(["Asking", "Obedient"]));
    await page.getByRole("link", { name: "Tasks" }).click();
    await page.locator("[data-testid=task-row]", { hasText: "Obedient" }).click();
    await page.locator(".timeline-row").first().waitFor();
    expect(await page.locator(`[data-mark=${mark}]`).count()).toBe(1);
    expect(await page.locator("[data-mark=fault]").count()).toBe(1);
    const others = ["cut", "gap", "duplicate"].filter((one) => one !== mark);
    for (const other of others) expect(await page.locator(`[data-mark=${other}]`).count()).toBe(0);
    await page.close();
  });
});
