import { expect, it } from "vitest";
import { agent } from "../agents/adapters/index.ts";
import type { Caller } from "../engine/index.ts";
import { createServer, type MountedHandler } from "./index.ts";

it("an operator has no operator access with credentials that are limited to contexts", async () => {
  const operators: (string | undefined)[] = [];
  const handler: MountedHandler = {
    matchesPath: (path) => path === "/operators",
    handle: async (_request, _createCallerContext, findOperatorAccess) => {
      operators.push((await findOperatorAccess())?.operator.principal);
      return new Response();
    },
  };
  const hello = agent({ name: "hello", description: "Greets" }, async function* () {
    yield "Hello";
  });
  const server = createServer(hello, {
    store: "memory",
    mountedHandlers: [handler],
    operator: { authenticate: ({ header }) => JSON.parse(header("x-operator") ?? "null") as Caller },
  });
  const operator: Caller = { tenant: "", principal: "op" };
  for (const caller of [operator, { ...operator, contextScope: { contextIds: ["red"] } }]) {
    const headers = { "x-operator": JSON.stringify(caller) };
    await server.fetch(new Request("http://localhost/operators", { headers }));
  }
  expect(operators).toEqual(["op", undefined]);
  await server.close({ graceMs: 50 });
});
