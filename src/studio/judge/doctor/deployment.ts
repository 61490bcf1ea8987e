import type { TrustedOrigins } from "../../../client/index.ts";
import { NotVerified, TestFailure } from "../acts/test-run.ts";
import type { FoundAgent } from "../find-agent.ts";
import { CARD_RULES } from "../rules/card-rules.ts";
import { OPERATION_RULES } from "../rules/operation-rules.ts";
import { PRIVATE_WEBHOOK_RULES } from "../rules/resilience-rules.ts";
import { MORE_NEEDED, type Probe, type Rule } from "../rules/rule.ts";
import { STREAM_RULES } from "../rules/stream-rules.ts";
import { warn, type Check } from "./check.ts";

/** Options of `examineDeployment`. */
export interface DeploymentOptions {
  /** URL of the agent or of its card. */
  readonly url: string;
  /** Bearer token, which only trusted origins receive. */
  readonly token?: string | undefined;
  readonly trustedOrigins?: TrustedOrigins | undefined;
  /** Text of the message that the agent receives. */
  readonly message: string;
  /** Time limit of the stream in milliseconds. Default: 30,000. */
  readonly timeoutMs?: number | undefined;
  /** Whether checks may also send another message, and create a webhook. Default: false. */
  readonly allowsMore?: boolean | undefined;
  /** Monotonic clock in milliseconds. Default: `performance.now`. */
  readonly now?: (() => number) | undefined;
  /** Clock in milliseconds since 1970. Default: `Date.now`. */
  readonly wallClock?: (() => number) | undefined;
}

/** A running agent that the doctor examines. */
export interface Deployment extends Probe {
  readonly agent: FoundAgent;
  /** URL of the interface to which the checks send A2A requests. */
  readonly interfaceUrl: string | undefined;
  readonly options: DeploymentOptions;
}

const RULES: readonly Rule[] = [...CARD_RULES, ...OPERATION_RULES, ...STREAM_RULES, ...PRIVATE_WEBHOOK_RULES];

/** Converts rules of conformance that depend on a deployment to checks. A rule of the level should has warnings. */
export function toChecks(...ids: readonly string[]): Check<Deployment>[] {
  return RULES.filter(({ id }) => ids.includes(id)).map((rule) => ({
    ...rule,
    async check(deployment) {
      const { level, section, bindings, needsMore } = rule;
      if (bindings?.includes(deployment.binding) === false)
        throw new NotVerified(`The binding ${deployment.binding} does not have this rule.`);
      if (needsMore && !deployment.options.allowsMore) throw new NotVerified(MORE_NEEDED);
      try {
        await rule.check(deployment);
      } catch (error) {
        if (level === "should" && error instanceof TestFailure) warn(error.message);
        throw error;
      }
      return `As A2A §${section} requires.`;
    },
  }));
}
