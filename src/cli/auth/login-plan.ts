import {
  assertSecureUrl,
  assertTrustedOrigin,
  fetchServerMetadata,
  findSecretLocation,
  isSameOrigin,
  listAuthRequirements,
  type OAuthEndpoint,
} from "../../client/index.ts";
import type { AgentCard, SecurityScheme } from "../../protocol/index.ts";
import { CliError, createUsageError } from "../cli-error.ts";

/**
 * The ways to get a token: a code that the user enters on any device (RFC 8628), a page that the browser of this machine
 * opens (RFC 6749 §4.1, RFC 7636), and the secret of the client without a user (RFC 6749 §4.4).
 */
export type LoginFlow = "device" | "browser" | "client";
export const LOGIN_FLOWS: readonly LoginFlow[] = ["device", "browser", "client"];

/** A security scheme that accepts tokens of an authorization server, with the scopes that the agent card requires. */
export interface LoginScheme {
  readonly name: string;
  readonly scheme: SecurityScheme;
  readonly scopes: readonly string[];
}

/** The flow of a login and its endpoints. */
export interface LoginPlan {
  readonly flow: LoginFlow;
  readonly tokenEndpoint: OAuthEndpoint;
  /** URL of the device authorization endpoint or of the login page. Undefined for the flow `client`. */
  readonly startUrl: string | undefined;
  /** The issuer, if the endpoints are from its metadata. */
  readonly issuer?: string;
  /** Whether the server names the issuer in its redirects (RFC 9207). */
  readonly sendsIssuer: boolean;
}

interface LoginPlanOptions {
  readonly fetch: typeof fetch;
  /** The requested flow. Default: the flow of the agent card, or else `device` if the server supports it. */
  readonly flow: LoginFlow | undefined;
  /** The authorization server that the user trusts, from `--oauth-issuer`. */
  readonly trustedIssuer: string | undefined;
  /** The origin of the agent, which may receive the secret of the client. */
  readonly agentOrigin: string;
  readonly hasSecret: boolean;
}

/** Returns the scheme of the login: the named scheme, or else the first OAuth 2.0 or OpenID Connect scheme. */
export function chooseLoginScheme(card: AgentCard, name: string | undefined): LoginScheme {
  const schemes = listAuthRequirements(card).flatMap((requirement) =>
    [...requirement].flatMap(([schemeName, { scheme, scopes }]): LoginScheme[] =>
      scheme && ("oauth2SecurityScheme" in scheme || "openIdConnectSecurityScheme" in scheme)
        ? [{ name: schemeName, scheme, scopes }]
        : [],
    ),
  );
  const chosen = name === undefined ? schemes[0] : schemes.find((scheme) => scheme.name === name);
  if (chosen) return chosen;
  const names = schemes.map((scheme) => scheme.name).join(", ");
  throw createUsageError(
    schemes.length === 0
      ? `${JSON.stringify(card.name)} requires no OAuth 2.0 or OpenID Connect scheme, so there is no login.`
      : `${JSON.stringify(card.name)} has no login for the scheme ${name}. It has ${names}.`,
    schemes.length === 0 ? "colloquy card get shows the schemes of the agent." : undefined,
  );
}

/** Finds the endpoints of a login in the agent card, or else in the metadata of the authorization server. */
export async function planLogin(
  { name, scheme }: LoginScheme,
  options: LoginPlanOptions,
): Promise<LoginPlan> {
  const { flow, hasSecret } = options;
  const cardPlan = findCardPlan(scheme);
  if (cardPlan && cardPlan.flow === (flow ?? cardPlan.flow)) {
    assertOneServer(cardPlan, options);
    return assertUsablePlan(cardPlan, hasSecret);
  }
  const metadataUrl = findMetadataUrl(scheme);
  if (metadataUrl !== undefined)
    return assertUsablePlan(await planWithMetadata(metadataUrl, options), hasSecret);
  const offered = cardPlan ? `only the flow ${cardPlan.flow}` : "no flow that colloquy supports";
  throw createUsageError(`The scheme ${name} of the agent card has ${offered}.`);
}

function createCardPlan(flow: LoginFlow, tokenUrl: string, startUrl?: string): LoginPlan {
  return { flow, tokenEndpoint: { url: tokenUrl, secretLocation: "header" }, startUrl, sendsIssuer: false };
}

function findCardPlan(scheme: SecurityScheme): LoginPlan | undefined {
  if (!("oauth2SecurityScheme" in scheme)) return undefined;
  const { flows } = scheme.oauth2SecurityScheme;
  if ("deviceCode" in flows)
    return createCardPlan("device", flows.deviceCode.tokenUrl, flows.deviceCode.deviceAuthorizationUrl);
  if ("authorizationCode" in flows)
    return createCardPlan(
      "browser",
      flows.authorizationCode.tokenUrl,
      flows.authorizationCode.authorizationUrl,
    );
  return "clientCredentials" in flows
    ? createCardPlan("client", flows.clientCredentials.tokenUrl)
    : undefined;
}

function findMetadataUrl(scheme: SecurityScheme): string | undefined {
  if ("openIdConnectSecurityScheme" in scheme) return scheme.openIdConnectSecurityScheme.openIdConnectUrl;
  return "oauth2SecurityScheme" in scheme ? scheme.oauth2SecurityScheme.oauth2MetadataUrl : undefined;
}

async function planWithMetadata(
  metadataUrl: string,
  { fetch, flow: requestedFlow, trustedIssuer, agentOrigin, hasSecret }: LoginPlanOptions,
): Promise<LoginPlan> {
  assertSecureUrl(metadataUrl);
  assertExpectedIssuer(metadataUrl, trustedIssuer);
  if (hasSecret) assertTrustedOrigin(metadataUrl, [agentOrigin, trustedIssuer]);
  const metadata = await fetchServerMetadata(fetch, metadataUrl);
  const flow = requestedFlow ?? ("device_authorization_endpoint" in metadata ? "device" : "browser");
  const startUrl = { device: "device_authorization_endpoint", browser: "authorization_endpoint", client: "" };
  const url = metadata[startUrl[flow]];
  const tokenUrl = String(metadata["token_endpoint"]);
  const issuer = metadata.issuer;
  if (flow !== "client" && typeof url !== "string")
    throw createUsageError(`${issuer} does not support the flow ${flow}.`);
  const challengeMethods = metadata["code_challenge_methods_supported"];
  if (flow === "browser" && Array.isArray(challengeMethods) && !challengeMethods.includes("S256"))
    throw createUsageError(`${issuer} does not support PKCE with S256, so the flow browser is not safe.`);
  // Only the issuer of the secret may name endpoints at another origin.
  if (hasSecret && !isSameOrigin(metadataUrl, trustedIssuer))
    for (const endpoint of [tokenUrl, ...(typeof url === "string" ? [url] : [])])
      assertTrustedOrigin(endpoint, [agentOrigin, trustedIssuer]);
  return {
    flow,
    tokenEndpoint: { url: tokenUrl, secretLocation: findSecretLocation(metadata) },
    startUrl: typeof url === "string" ? url : undefined,
    issuer,
    sendsIssuer: metadata["authorization_response_iss_parameter_supported"] === true,
  };
}

/**
 * Throws if the endpoints of an agent card belong to several servers. The card could otherwise let the user log in at one
 * server, and send the code of this server to another one.
 */
function assertOneServer(
  { startUrl, tokenEndpoint: { url } }: LoginPlan,
  { trustedIssuer, hasSecret, agentOrigin }: LoginPlanOptions,
): void {
  if (startUrl !== undefined && !isSameOrigin(startUrl, url))
    throw new CliError(
      "A2ACLI_ERR_CARD_INVALID",
      `The card names a login at ${parseOrigin(startUrl)} with tokens from ${parseOrigin(url)}, which could expose your login.`,
      "An agent whose server has several hosts names the metadata of the server in its card (oauth2MetadataUrl).",
    );
  assertExpectedIssuer(url, trustedIssuer);
  if (hasSecret) assertTrustedOrigin(url, [agentOrigin, trustedIssuer]);
}

function assertExpectedIssuer(url: string, trustedIssuer: string | undefined): void {
  if (trustedIssuer === undefined || isSameOrigin(url, trustedIssuer)) return;
  throw createUsageError(`The card names a login at ${parseOrigin(url)}, and not at ${trustedIssuer}.`);
}

/** Returns the origin of a URL for an error message. */
function parseOrigin(url: string): string {
  return URL.parse(url)?.origin ?? JSON.stringify(url.slice(0, 200));
}

function assertUsablePlan(plan: LoginPlan, hasSecret: boolean): LoginPlan {
  assertSecureUrl(plan.tokenEndpoint.url);
  if (plan.startUrl !== undefined) assertSecureUrl(plan.startUrl);
  if (plan.flow !== "client" || hasSecret) return plan;
  throw createUsageError(
    "The agent requires a client with a secret.",
    "Pass it with --oauth-client <id:secret>, or better, in A2ACLI_OAUTH_CLIENT.",
  );
}
