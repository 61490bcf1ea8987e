import { expect, it } from "vitest";
import type { Caller } from "../../engine/index.ts";
import type { CallerAgentAccess } from "../../server/index.ts";
import { authenticateConsoleUser } from "./console-user.ts";

const CALLER: Caller = { tenant: "", principal: "ada" };

it.each([
  [{ ...CALLER, contextScope: { contextIds: ["red"] } }, "The console accepts no context tokens"],
  [{ ...CALLER, principal: "" }, "The request has no valid token"],
])("a caller who may not see all own tasks has no console: %j", async (caller, text) => {
  const access = { caller } as CallerAgentAccess;
  const user = authenticateConsoleUser(
    { hasLaunchToken: false, publicUrl: "http://localhost" },
    { createCallerContext: async () => access, findOperatorAccess: async () => undefined },
  );
  await expect(user).rejects.toThrow(text);
});
