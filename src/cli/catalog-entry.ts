import { type ConnectOptions, discover, parseAgentUrl, type TrustedOrigins } from "../client/index.ts";
import { CliError } from "./cli-error.ts";
import type { ClientOptions } from "./client-options.ts";
import { CREDENTIAL_OPTIONS } from "./credential-redactor.ts";

/** The URL of an agent card, or the text of a card with the origins that may receive the credentials of the user. */
export type CardSource =
  | { readonly url: string }
  | { readonly text: string; readonly trustedOrigins: TrustedOrigins };

/** The well-known paths of catalogs, which `discover` appends to the URL of a host. */
const CATALOG_PATH = /\/\.well-known\/(?:ai-catalog\.json|api-catalog)$/;
const MAX_LISTED_NAMES = 20;

/**
 * Finds the agent with a name in the catalog of a host. The catalog gets no credentials. If the catalog names a card on
 * another origin, the card and its agent get credentials only with `--trust-origin`, because the user named only the
 * catalog.
 */
export async function findCatalogEntry(
  catalogUrl: string,
  encodedName: string,
  options: ClientOptions,
  request: Pick<ConnectOptions, "fetch" | "signal" | "timeouts">,
): Promise<CardSource> {
  const host = parseAgentUrl(catalogUrl);
  const trustedOrigins = [host.origin, ...(options.trustOrigin ?? [])];
  host.pathname = host.pathname.replace(CATALOG_PATH, "/");
  const name = decodeName(encodedName);
  const agents = await discover(host.href, { ...request, trustedOrigins });
  const [entry, ...others] = agents.filter((agent) => agent.name === name);
  if (!entry || others.length > 0) {
    const names = agents.flatMap((agent) => (agent.name === undefined ? [] : JSON.stringify(agent.name)));
    throw new CliError(
      "A2ACLI_ERR_CARD_NOT_FOUND",
      `The catalog of ${host.origin} has ${entry ? "several agents" : "no agent"} with the name ${JSON.stringify(name)}.`,
      `It has ${names.slice(0, MAX_LISTED_NAMES).join(", ") || "no agents with names"}.`,
    );
  }
  if (entry.error) throw entry.error;
  if (entry.cardUrl === undefined) return { text: JSON.stringify(entry.card), trustedOrigins };
  assertTrustedCard(new URL(entry.cardUrl), trustedOrigins, options);
  return { url: entry.cardUrl };
}

function decodeName(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function assertTrustedCard({ origin }: URL, trustedOrigins: readonly string[], options: ClientOptions): void {
  const hasSecrets = [...CREDENTIAL_OPTIONS, "svcParam" as const].some((name) => options[name] !== undefined);
  if (!hasSecrets || trustedOrigins.some((trusted) => URL.parse(trusted)?.origin === origin)) return;
  throw new CliError(
    "A2ACLI_ERR_CARD_INVALID",
    `The catalog names a card at ${origin}, so your credentials are not sent.`,
    `If you trust that host, pass --trust-origin ${origin}.`,
  );
}
