import { createServer } from "../../server/index.ts";
import { defineRules, classifyHost, fail, NotVerified, warn, type Check } from "../../studio/judge/index.ts";
import { isConfigAgentPathList } from "../serve/apply-config-file.ts";
import { AdkAgentFactory } from "../serve/adk-agent-factory.ts";
import { loadAgentFiles } from "../serve/load-agent-files.ts";
import type { Project } from "./project.ts";

const MIN_TOKEN_LENGTH = 16;

/** Checks of the agents, and of the settings of the server. */
export const SERVER_CHECKS: readonly Check<Project>[] = defineRules<Project, string>({
  async "PROJECT-AGENTS"({ agents: named, ignoredFiles }) {
    if (ignoredFiles.length > 0) warn(ignoredFiles.join(" "));
    if (Object.keys(named).length === 0)
      throw new NotVerified("No agent is configured. Pass the file of an agent.");
    const { agents, skipped } = isConfigAgentPathList(named)
      ? await loadAgentFiles(named, new AdkAgentFactory({ onError: () => {} })).catch((error: Error) =>
          fail(error.message),
        )
      : { agents: named, skipped: [] };
    await createServer(agents, { store: "memory", observer: false }).close();
    return skipped.length > 0 ? warn(skipped.join(" ")) : `${Object.keys(agents).join(", ")}.`;
  },
  "PROJECT-AUTH"({ isExposed, hasAuth }) {
    if (hasAuth) return "Callers authenticate.";
    if (isExposed) warn("Each caller can use the agents without credentials.");
    return "Only this machine reaches the agents.";
  },
  "PROJECT-TOKENS"({ config: { authTokenEnv = [] }, env }) {
    for (const name of authTokenEnv) {
      const { length } = env[name] ?? "";
      if (length === 0) warn(`In this environment, ${name} is not set.`);
      if (length < MIN_TOKEN_LENGTH)
        fail(`The token of ${name} has fewer than ${MIN_TOKEN_LENGTH} characters.`);
    }
    return `${authTokenEnv.length} tokens of variables.`;
  },
  "PROJECT-PUBLIC-URL"({ isExposed, config: { publicUrl } }) {
    if (isExposed && publicUrl === undefined)
      warn("The cards have the origin of each request, which is HTTP behind a proxy that ends TLS.");
    const { protocol, hostname } = URL.parse(publicUrl ?? "http://localhost") ?? {
      protocol: "",
      hostname: "",
    };
    if (protocol !== "https:" && classifyHost(hostname) === "public") fail(`${publicUrl} is no HTTPS URL.`);
    return publicUrl ?? "The cards have the origin of each request.";
  },
  "PROJECT-WEBHOOKS"({ config: { allowPrivateWebhooks }, isExposed }) {
    if (allowPrivateWebhooks && isExposed) warn("Callers can name webhooks in the network of the server.");
    return allowPrivateWebhooks ? "Only this machine names webhooks." : "The server refuses them.";
  },
  "PROJECT-RECORD"({ config: { record }, isExposed, env }) {
    if (record !== undefined && (isExposed || env["NODE_ENV"] === "production"))
      warn(`The server records the messages of users in ${record}.`);
    return record ?? "No record.";
  },
});
