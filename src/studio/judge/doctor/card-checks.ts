import { getInterfaceOrigin } from "../../../client/index.ts";
import { BINDINGS, createTransport } from "../acts/run-suite.ts";
import { fail, formatError, NotVerified } from "../acts/test-run.ts";
import { createRequestHeaders } from "../acts/transport.ts";
import { BINDING_NAMES } from "../acts/wire-tables.ts";
import { defineRules, UNKNOWN_TASK } from "../rules/rule.ts";
import { warn, type Check } from "./check.ts";
import { judgeAddress } from "./classify-host.ts";
import { toChecks, type Deployment } from "./deployment.ts";

/** Checks of the agent card, and of the addresses that it names. */
export const CARD_CHECKS: readonly Check<Deployment>[] = [
  ...toChecks("ANY-CARD-SHAPE", "ANY-CARD-MEDIA", "ANY-CARD-URLS", "ANY-CARD-SECURITY"),
  ...defineRules<Deployment, string>({
    "DEPLOY-ADDRESS"({ agent }) {
      const origins = [agent.baseUrl, ...requireInterfaces(agent).map((one) => getInterfaceOrigin(one))];
      const found = origins.flatMap((origin) => judgeAddress(agent.baseUrl, origin) ?? []);
      const problem = found.find(({ result }) => result === "problem");
      if (problem) fail(problem.seen);
      if (found[0]) warn(found[0].seen);
      return `The card at ${agent.baseUrl} names ${new Set(origins).size} origins.`;
    },
    async "DEPLOY-INTERFACES"({ agent }) {
      const interfaces = requireInterfaces(agent).filter(({ protocolVersion }) =>
        protocolVersion.startsWith("1."),
      );
      if (interfaces.length === 0)
        warn("The card offers no interface of A2A 1.0, which current clients prefer.");
      const problems: string[] = [];
      for (const { protocolBinding, url } of interfaces) {
        const problem = await findSilence(protocolBinding, url).catch(String);
        if (problem !== undefined) problems.push(`${protocolBinding} at ${url}: ${problem}`);
      }
      return problems.length > 0 ? fail(problems.join(" ")) : `${interfaces.length} interfaces reply.`;
    },
  }),
];

function requireInterfaces({ interfaces }: Deployment["agent"]): Deployment["agent"]["interfaces"] {
  if (interfaces.length === 0) throw new NotVerified("Clients cannot read the card.");
  return interfaces;
}

/** Returns why an interface does not reply to a request without credentials. An error of A2A is a reply. */
async function findSilence(protocolBinding: string, url: string): Promise<string | undefined> {
  const binding = BINDINGS.find((name) => BINDING_NAMES[name] === protocolBinding);
  if (!binding) return undefined;
  const transport = await createTransport(binding, url);
  const options = { headers: createRequestHeaders("1.0"), signal: AbortSignal.timeout(10_000) };
  const { error } = await transport.call("get_task", { id: UNKNOWN_TASK }, options);
  return error && /UNAVAILABLE|\b50[234]\b/.test(error.error_type) ? formatError(error) : undefined;
}
