import { readAllPaths, readPath } from "../acts/expressions.ts";
import { fail, formatError, NotVerified } from "../acts/test-run.ts";
import { PRIVATE_WEBHOOK_RULE } from "../rules/resilience-rules.ts";
import { requireCapability, UNKNOWN_TASK } from "../rules/rule.ts";
import { warn, type Check } from "./check.ts";
import { classifyHost } from "./classify-host.ts";
import { toChecks, type Deployment } from "./deployment.ts";

/** Checks of declared capabilities, and of what callers may do. */
export const CALLER_CHECKS: readonly Check<Deployment>[] = [
  ...toChecks("ANY-STREAM-DENIED", "ANY-PUSH-DENIED", "ANY-EXTENDED-DENIED", "ANY-AUTH-REQUIRED"),
  {
    id: "DEPLOY-PUSH",
    name: "If the card declares push notifications, the server offers their operations",
    remedy: "Remove pushNotifications from the card, or let the proxy forward the operations.",
    async check({ card, call }) {
      requireCapability(card, "pushNotifications");
      const { error } = await call("list_push_configs", { taskId: UNKNOWN_TASK });
      if (error && /NotSupported|Unsupported|MethodNotFound|HTTP 404/.test(error.error_type))
        fail(formatError(error));
      return `The server lists webhooks, and returns ${error?.error_type ?? "none"} for an unknown task.`;
    },
  },
  {
    id: "DEPLOY-EXTENDED-CARD",
    name: "If the card declares an extended card, the server returns it",
    remedy: "Remove extendedAgentCard from the card, or configure the extended card.",
    async check({ card, call }) {
      requireCapability(card, "extendedAgentCard");
      const { error, body, status } = await call("get_extended_agent_card", {});
      if (status === 401 || status === 403)
        throw new NotVerified("The extended card requires credentials (--bearer).");
      if (error) fail(formatError(error));
      if (typeof readPath(body, "name") !== "string") fail("The reply is no card.");
      return "The server returns the extended card.";
    },
  },
  {
    id: "DEPLOY-OPEN",
    name: "Only callers with credentials use an agent that everybody can reach",
    remedy: "Set authenticate (--auth-token-env, --oidc-issuer), or state that the agent is public.",
    async check({ card, call, agent: { baseUrl } }) {
      if (readAllPaths(card, "securityRequirements[*].schemes").length > 0)
        return "The card requires credentials.";
      const { error, body } = await call("list_tasks", {}, { token: null });
      if (error) return `The card requires no credentials, but the server returns ${error.error_type}.`;
      const seen = `Callers without credentials list ${readAllPaths(body, "tasks[*]").length} tasks or more.`;
      return classifyHost(new URL(baseUrl).hostname) === "loopback"
        ? `${seen} Only this machine does.`
        : warn(seen);
    },
  },
  ...toChecks(PRIVATE_WEBHOOK_RULE.id),
];
