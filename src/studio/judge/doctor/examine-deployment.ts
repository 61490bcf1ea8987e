import type { Binding } from "../acts/corpus.ts";
import { BINDINGS, createTestContext } from "../acts/run-suite.ts";
import { BINDING_NAMES } from "../acts/wire-tables.ts";
import { findAgent, type FoundAgent } from "../find-agent.ts";
import { createProbe, createRun, type SharedSamples } from "../rules/rule.ts";
import { startWebhookReceiver } from "../acts/webhook-receiver.ts";
import { classifyHost } from "./classify-host.ts";
import { CARD_CHECKS } from "./card-checks.ts";
import { CALLER_CHECKS } from "./caller-checks.ts";
import { runChecks, type CheckGroup, type Diagnosis } from "./check.ts";
import type { Deployment, DeploymentOptions } from "./deployment.ts";
import { PROXY_CHECKS } from "./proxy-checks.ts";

const DEPLOYMENT_CHECKS: readonly CheckGroup<Deployment>[] = [
  { name: "Card and address", checks: CARD_CHECKS },
  { name: "Proxies and clocks", checks: PROXY_CHECKS },
  { name: "Callers and webhooks", checks: CALLER_CHECKS },
];

/** Examines a running agent. Unless `allowsMore` is set, the agent receives one message, and otherwise only reads. */
export async function examineDeployment(options: DeploymentOptions): Promise<readonly Diagnosis[]> {
  const { url, token, trustedOrigins, message, timeoutMs, now } = options;
  const agent = await findAgent(url, token);
  const chosen = chooseInterface(agent);
  const isHere = options.allowsMore && classifyHost(new URL(agent.baseUrl).hostname) === "loopback";
  const webhooks = isHere ? await startWebhookReceiver() : undefined;
  const server = { baseUrl: agent.baseUrl, token, trustedOrigins, behaviors: undefined, webhooks };
  const context = await createTestContext(chosen?.binding ?? "jsonrpc", server);
  // An agent of A2A 0.3 must not receive requests of 1.0.
  const usable = chosen ? context : { ...context, transport: undefined };
  const { cardProblem } = agent;
  const shared: SharedSamples = { message, exchanges: [], cardProblem, timeoutMs, now };
  try {
    return await runChecks(DEPLOYMENT_CHECKS, (exchanges) => {
      const run = createRun(usable, exchanges);
      const probe = createProbe(run, context.card ?? {}, shared);
      return { ...probe, agent, interfaceUrl: chosen?.url, options };
    });
  } finally {
    webhooks?.close();
  }
}

/** Chooses an interface of A2A 1.0, and prefers HTTP, which the checks of proxies need. */
function chooseInterface({ interfaces }: FoundAgent): { binding: Binding; url: string } | undefined {
  for (const binding of BINDINGS)
    for (const { protocolBinding, protocolVersion, url } of interfaces)
      if (protocolBinding === BINDING_NAMES[binding] && protocolVersion.startsWith("1."))
        return { binding, url };
  return undefined;
}
