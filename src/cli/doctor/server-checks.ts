import { createServer } from "../../server/index.ts";
import { classifyHost, fail, NotVerified, warn, type Check } from "../../studio/judge/index.ts";
import { isConfigAgentPathList } from "../serve/apply-config-file.ts";
import { AdkAgentFactory } from "../serve/adk-agent-factory.ts";
import { loadAgentFiles } from "../serve/load-agent-files.ts";
import type { Project } from "./project.ts";

const MIN_TOKEN_LENGTH = 16;

/** Checks of the agents, and of the settings of the server. */
export const SERVER_CHECKS: readonly Check<Project>[] = [
  {
    id: "PROJECT-AGENTS",
    name: "The configuration file and all agent files load",
    remedy: "Correct or remove the file, or pass the configuration file with --config.",
    async check({ agents: named, ignoredFiles }) {
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
  },
  {
    id: "PROJECT-AUTH",
    name: "Only callers with credentials use agents that other machines can reach",
    remedy: "Set authTokenEnv, bearerFile, apiKeysFile, or oidcIssuer.",
    check({ isExposed, hasAuth }) {
      if (hasAuth) return "Callers authenticate.";
      if (isExposed) warn("Each caller can use the agents without credentials.");
      return "Only this machine reaches the agents.";
    },
  },
  {
    id: "PROJECT-TOKENS",
    name: "The variables of tokens are set, and their tokens are long",
    remedy: "Set the variable to a random token, such as the output of openssl rand -hex 32.",
    check({ config: { authTokenEnv = [] }, env }) {
      for (const name of authTokenEnv) {
        const { length } = env[name] ?? "";
        if (length === 0) warn(`In this environment, ${name} is not set.`);
        if (length < MIN_TOKEN_LENGTH)
          fail(`The token of ${name} has fewer than ${MIN_TOKEN_LENGTH} characters.`);
      }
      return `${authTokenEnv.length} tokens of variables.`;
    },
  },
  {
    id: "PROJECT-PUBLIC-URL",
    name: "Agent cards have the URL that clients use",
    remedy: "Set publicUrl to the HTTPS URL of the server or of its proxy.",
    check({ isExposed, config: { publicUrl } }) {
      if (isExposed && publicUrl === undefined)
        warn("The cards have the origin of each request, which is HTTP behind a proxy that ends TLS.");
      const { protocol, hostname } = URL.parse(publicUrl ?? "http://localhost") ?? {
        protocol: "",
        hostname: "",
      };
      if (protocol !== "https:" && classifyHost(hostname) === "public") fail(`${publicUrl} is no HTTPS URL.`);
      return publicUrl ?? "The cards have the origin of each request.";
    },
  },
  {
    id: "PROJECT-WEBHOOKS",
    name: "The server sends no push notifications to private networks",
    remedy: "Remove allowPrivateWebhooks.",
    check({ config: { allowPrivateWebhooks }, isExposed }) {
      if (allowPrivateWebhooks && isExposed) warn("Callers can name webhooks in the network of the server.");
      return allowPrivateWebhooks ? "Only this machine names webhooks." : "The server refuses them.";
    },
  },
  {
    id: "PROJECT-RECORD",
    name: "A server in production keeps no record of the messages of users",
    remedy: "Remove record, or delete the file regularly.",
    check({ config: { record }, isExposed, env }) {
      if (record !== undefined && (isExposed || env["NODE_ENV"] === "production"))
        warn(`The server records the messages of users in ${record}.`);
      return record ?? "No record.";
    },
  },
];
