import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Task } from "../protocol/index.ts";
import { cardContract } from "./card/card.contract.ts";
import { cardShapeContract } from "./card/card-shape.contract.ts";
import { extensionsContract } from "./extensions.contract.ts";
import { inputModesContract } from "./input-modes.contract.ts";
import { jsonRpcContract } from "./bindings/json-rpc.contract.ts";
import { restContract } from "./bindings/rest.contract.ts";
import { simpleContract } from "./bindings/simple.contract.ts";
import { v0_3Contract } from "./bindings/v0_3.contract.ts";
import {
  JSON_BODY,
  message,
  parrot,
  readEvents,
  V1,
  Visit,
  type Open,
  type RpcAnswer,
} from "./server.fixture.ts";

/** What every door to a server must do alike. */
export function serverContract(name: string, open: Open): void {
  describe(`a server, through ${name}`, () => {
    const visit = new Visit();
    const { rpc, taskFrom } = visit;

    beforeEach(() => visit.begin(open));
    afterEach(() => visit.door.close());

    cardContract(visit);
    jsonRpcContract(visit);
    restContract(visit);
    simpleContract(visit, open);
    v0_3Contract(visit, open);
    cardShapeContract(visit, open);
    extensionsContract(open);
    inputModesContract(open);

    it("keeps the agents' tasks apart [E13]", async () => {
      const { id } = await taskFrom("echo x");
      expect((await rpc("GetTask", { id }, {}, "/a2a/silent")).error?.code).toBe(-32001);
      expect((await rpc("ListTasks", {}, {}, "/a2a/silent")).result).toMatchObject({ totalSize: 0 });
      expect((await rpc("GetTask", { id }, {}, "/a2a/parrot")).result).toMatchObject({ id });
    });

    it("keeps tenants apart [E13, K-02]", async () => {
      const sent = await rpc("SendMessage", { message: message("echo x"), tenant: "a" });
      const id = sent.result?.task?.id;
      expect((await rpc("GetTask", { id, tenant: "a" })).result).toMatchObject({ id });
      expect((await rpc("GetTask", { id, tenant: "b" })).error?.code).toBe(-32001);
      expect((await rpc("GetTask", { id })).error?.code).toBe(-32001);
    });

    it("refuses a body that is too large, and lives on [D-05, E14]", async () => {
      const small = await open({ parrot }, { store: "memory", limits: { bodyBytes: 1000 } });
      const body = JSON.stringify({ message: message("x".repeat(2000)) });
      const response = await small.door.send("/message:send", { method: "POST", headers: JSON_BODY, body });
      expect(response.status).toBe(413);
      expect(await response.text()).toContain("1,000 bytes");
      const next = await small.door.send("/message:send", {
        method: "POST",
        headers: JSON_BODY,
        body: JSON.stringify({ message: message("echo") }),
      });
      expect(next.status).toBe(200);
      await small.door.close();
    });

    it("refuses a body that is not UTF-8 [C-06]", async () => {
      const response = await visit.door.send("/", {
        method: "POST",
        headers: JSON_BODY,
        body: new Uint8Array([0x22, 0xff, 0x22]),
      });
      expect(((await response.json()) as RpcAnswer).error?.code).toBe(-32700);
    });

    it("lets nobody in who is not authenticated, in either binding; the card is public [M-01, M-11]", async () => {
      const guarded = await open(
        { parrot },
        {
          store: "memory",
          authenticate: ({ header }) =>
            header("authorization") === "Bearer good" ? { tenant: "", principal: "alice" } : undefined,
        },
      );
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ListTasks" });
      const refused = await guarded.door.send("/", { method: "POST", headers: JSON_BODY, body });
      expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([401, `Bearer realm="a2a"`]);
      expect(((await refused.json()) as RpcAnswer).error?.code).toBe(-32000);
      const rest = await guarded.door.send("/tasks", { headers: V1 });
      expect([rest.status, rest.headers.get("www-authenticate")]).toEqual([401, `Bearer realm="a2a"`]);
      expect(
        (await guarded.door.send("/tasks", { headers: { ...V1, authorization: "Bearer good" } })).status,
      ).toBe(200);
      expect((await guarded.door.send("/.well-known/agent-card.json")).status).toBe(200);
      await guarded.door.close();
    });

    it("follows the tables of 1.0.0 when told to [D-05]", async () => {
      const old = await open({ parrot }, { store: "memory", specRevision: "1.0.0" });
      const sent = await old.door.send("/message:send", {
        method: "POST",
        headers: JSON_BODY,
        body: JSON.stringify({ message: message("echo x") }),
      });
      expect(sent.headers.get("content-type")).toBe("application/json");
      const { task } = (await sent.json()) as { task: Task };
      expect(
        (await old.door.send(`/tasks/${task.id}:cancel`, { method: "POST", headers: JSON_BODY })).status,
      ).toBe(409);
      const typed = { method: "POST", headers: { ...V1, "content-type": "text/plain" }, body: "{}" };
      expect((await old.door.send("/message:send", typed)).status).toBe(415);
      await old.door.close();
    });

    it("reads a request without a version by its shape when told to [B-07]", async () => {
      const sloppy = await open({ parrot }, { store: "memory", missingVersion: "infer" });
      expect((await sloppy.door.send("/tasks")).status).toBe(200);
      await sloppy.door.close();
    });

    it("gives a message an id of its own when told to, and refuses it otherwise", async () => {
      const lenient = await open({ parrot }, { store: "memory", autoMessageId: true });
      const nameless = { message: { ...message("echo x"), messageId: undefined } };
      const rpcBody = { jsonrpc: "2.0", id: 1, method: "SendMessage", params: nameless };
      const post = (path: string, body: object): RequestInit & { path: string } => ({
        path,
        method: "POST",
        headers: JSON_BODY,
        body: JSON.stringify(body),
      });
      for (const { path, ...init } of [post("/", rpcBody), post("/message:send", nameless)]) {
        const answer = JSON.stringify(await (await lenient.door.send(path, init)).json());
        expect(answer).toContain("TASK_STATE_COMPLETED");
        const strict = JSON.stringify(await (await visit.door.send(path, init)).json());
        expect(strict).toContain("message.messageId");
      }
      await lenient.door.close();
    });

    it("ends its streams between two events when it closes, and says that they are cut [D-10]", async () => {
      const { door: own, server } = await open({ parrot }, { store: "memory" });
      const start = (text: string): Promise<Response> =>
        own.send("/message:stream", {
          method: "POST",
          headers: JSON_BODY,
          body: JSON.stringify({ message: message(text) }),
        });
      const asked = await readEvents(await start("ask"));
      const { task } = (asked[0] as { data: { task: Task } }).data;
      const subscribed = await own.send(`/tasks/${task.id}:subscribe`, {
        method: "POST",
        headers: JSON_BODY,
      });
      const reading = [readEvents(await start("wait")), readEvents(subscribed)];
      await server.close({ graceMs: 500 });
      const [ended, cut] = await Promise.all(reading);
      expect(ended?.at(-1)?.data).toMatchObject({ statusUpdate: { status: { state: "TASK_STATE_FAILED" } } });
      expect(cut?.map(({ data }) => Object.keys(data as object)[0])).toEqual(["task", "error"]);
      expect(cut?.at(-1)?.data).toMatchObject({ error: { code: 503, status: "UNAVAILABLE" } });
      await own.close();
    });
  });
}
