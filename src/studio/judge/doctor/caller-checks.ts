import { readAllPaths, readPath } from "../acts/expressions.ts";
import { fail, formatError, NotVerified } from "../acts/test-run.ts";
import { defineRules, requireCapability, UNKNOWN_TASK } from "../rules/rule.ts";
import { warn, type Check } from "./check.ts";
import { classifyHost } from "./classify-host.ts";
import { toChecks, type Deployment } from "./deployment.ts";

/** Checks of declared capabilities, and of what callers may do. */
export const CALLER_CHECKS: readonly Check<Deployment>[] = [
  ...toChecks("ANY-STREAM-DENIED", "ANY-PUSH-DENIED", "ANY-EXTENDED-DENIED", "ANY-AUTH-REQUIRED"),
  ...defineRules<Deployment, string>({
    async "DEPLOY-PUSH"({ card, call }) {
      requireCapability(card, "pushNotifications");
      const { error } = await call("list_push_configs", { taskId: UNKNOWN_TASK });
      if (error && /NotSupported|Unsupported|MethodNotFound|HTTP 404/.test(error.error_type))
        fail(formatError(error));
      return `The server lists webhooks, and returns ${error?.error_type ?? "none"} for an unknown task.`;
    },
    async "DEPLOY-EXTENDED-CARD"({ card, call }) {
      requireCapability(card, "extendedAgentCard");
      const { error, body, status } = await call("get_extended_agent_card", {});
      if (status === 401 || status === 403)
        throw new NotVerified("The extended card requires credentials (--bearer).");
      if (error) fail(formatError(error));
      if (typeof readPath(body, "name") !== "string") fail("The reply is no card.");
      return "The server returns the extended card.";
    },
    async "DEPLOY-OPEN"({ card, call, agent: { baseUrl } }) {
      if (readAllPaths(card, "securityRequirements[*].schemes").length > 0)
        return "The card requires credentials.";
      const { error, body } = await call("list_tasks", {}, { token: null });
      if (error) return `The card requires no credentials, but the server returns ${error.error_type}.`;
      const seen = `Callers without credentials list ${readAllPaths(body, "tasks[*]").length} tasks or more.`;
      return classifyHost(new URL(baseUrl).hostname) === "loopback"
        ? `${seen} Only this machine does.`
        : warn(seen);
    },
  }),
  ...toChecks("RES-PUSH-PRIVATE"),
];
