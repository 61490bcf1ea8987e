import type {
  AgentCapabilities,
  AgentCard,
  AgentCardSignature,
  AgentExtension,
  AgentInterface,
  AgentProvider,
  AgentSkill,
  OAuthFlows,
  SecurityRequirement,
  SecurityScheme,
} from "../../protocol/index.ts";
import { converted, list, map, message, optional, required, type Type } from "../proto-json.ts";
import { bool, string, struct, word } from "../scalars.ts";

// The card of A2A 0.3, read into 1.0. Cards are only ever read from others, so nearly everything has a fallback.

const text = required(string, "");
const texts = required(list(string), []);

interface Flow {
  authorizationUrl: string;
  tokenUrl: string;
  refreshUrl?: string;
  scopes: Record<string, string>;
}

const FLOW: Type<Flow> = message<Flow>({
  authorizationUrl: text,
  tokenUrl: text,
  refreshUrl: string,
  scopes: required(map(string), {}),
});

interface Flows {
  authorizationCode?: Flow;
  clientCredentials?: Flow;
  implicit?: Flow;
  password?: Flow;
}

/** 0.3 may offer several flows, 1.0 has one: the first of these, which are in the order of their safety. */
function fromFlows({ authorizationCode, clientCredentials, implicit, password }: Flows): OAuthFlows {
  if (authorizationCode) return { authorizationCode };
  if (clientCredentials) return { clientCredentials: withoutAuthorization(clientCredentials) };
  if (implicit) {
    const { tokenUrl: _, ...flow } = implicit;
    return { implicit: flow };
  }
  return password ? { password: withoutAuthorization(password) } : ({} as OAuthFlows);
}

function withoutAuthorization(flow: Flow): Omit<Flow, "authorizationUrl"> {
  const { authorizationUrl: _, ...rest } = flow;
  return rest;
}

/** The members of all kinds of schemes. */
interface AnyScheme {
  type: SchemeType;
  description?: string;
  in: "query" | "header" | "cookie";
  name: string;
  scheme: string;
  bearerFormat?: string;
  flows: OAuthFlows;
  oauth2MetadataUrl?: string;
  openIdConnectUrl: string;
}

type SchemeType = "apiKey" | "http" | "oauth2" | "openIdConnect" | "mutualTLS";

const ANY_SCHEME: Type<AnyScheme> = message<AnyScheme>({
  type: required(
    word({
      apiKey: "apiKey",
      http: "http",
      oauth2: "oauth2",
      openIdConnect: "openIdConnect",
      mutualTLS: "mutualTLS",
    }),
  ),
  description: string,
  in: required(word({ query: "query", header: "header", cookie: "cookie" }), "header"),
  name: text,
  scheme: text,
  bearerFormat: string,
  flows: required(
    converted(
      message<Flows>({ authorizationCode: FLOW, clientCredentials: FLOW, implicit: FLOW, password: FLOW }),
      fromFlows,
    ),
    {},
  ),
  oauth2MetadataUrl: string,
  openIdConnectUrl: text,
});

const FROM_SCHEME: Readonly<Record<SchemeType, (scheme: AnyScheme) => SecurityScheme>> = {
  apiKey: ({ in: location, name, ...rest }) => ({
    apiKeySecurityScheme: { location, name, ...descriptionOf(rest) },
  }),
  http: ({ scheme, bearerFormat, ...rest }) => ({
    httpAuthSecurityScheme: {
      scheme,
      ...(bearerFormat === undefined ? {} : { bearerFormat }),
      ...descriptionOf(rest),
    },
  }),
  oauth2: ({ flows, oauth2MetadataUrl, ...rest }) => ({
    oauth2SecurityScheme: {
      flows,
      ...(oauth2MetadataUrl === undefined ? {} : { oauth2MetadataUrl }),
      ...descriptionOf(rest),
    },
  }),
  openIdConnect: ({ openIdConnectUrl, ...rest }) => ({
    openIdConnectSecurityScheme: { openIdConnectUrl, ...descriptionOf(rest) },
  }),
  mutualTLS: (scheme) => ({ mtlsSecurityScheme: descriptionOf(scheme) }),
};

function descriptionOf({ description }: { description?: string }): { description?: string } {
  return description === undefined ? {} : { description };
}

const SECURITY_SCHEME: Type<SecurityScheme> = converted(ANY_SCHEME, (scheme) =>
  FROM_SCHEME[scheme.type](scheme),
);

const SECURITY: Type<SecurityRequirement> = converted(map(list(string)), (scopes) => ({
  schemes: Object.fromEntries(Object.entries(scopes).map(([name, list]) => [name, { list }])),
}));

const skillOf = (security: Type<SecurityRequirement>): Type<AgentSkill> =>
  message<AgentSkill>(
    {
      id: text,
      name: text,
      description: text,
      tags: texts,
      examples: list(string),
      inputModes: list(string),
      outputModes: list(string),
      securityRequirements: list(security),
    },
    { names: { securityRequirements: ["security"] } },
  );

/** What 0.3 says at other places than 1.0. */
interface Elsewhere {
  protocolVersion: string;
  url: string;
  preferredTransport: string;
  additionalInterfaces?: { url: string; transport: string }[];
  supportsAuthenticatedExtendedCard?: boolean;
}

/** A card, by the way in which its form of 0.3 writes security. */
export const cardOf = ({
  scheme,
  security,
}: {
  scheme: Type<SecurityScheme>;
  security: Type<SecurityRequirement>;
}): Type<AgentCard> =>
  converted(
    message<Omit<AgentCard, "supportedInterfaces"> & Elsewhere>(
      {
        protocolVersion: required(string, "0.3.0"),
        name: text,
        description: text,
        url: text,
        preferredTransport: required(string, "JSONRPC"),
        additionalInterfaces: list(
          message<{ url: string; transport: string }>({ url: text, transport: text }),
        ),
        provider: message<AgentProvider>({ url: text, organization: text }),
        version: text,
        documentationUrl: optional(string),
        capabilities: required(
          message<Omit<AgentCapabilities, "extendedAgentCard">>({
            streaming: optional(bool),
            pushNotifications: optional(bool),
            extensions: list(
              message<AgentExtension>({ uri: text, description: string, required: bool, params: struct }),
            ),
          }),
          {},
        ),
        securitySchemes: map(scheme),
        securityRequirements: list(security),
        defaultInputModes: texts,
        defaultOutputModes: texts,
        skills: required(list(skillOf(security)), []),
        supportsAuthenticatedExtendedCard: optional(bool),
        signatures: list(message<AgentCardSignature>({ protected: text, signature: text, header: struct })),
        iconUrl: optional(string),
      },
      { names: { securityRequirements: ["security"] } },
    ),
    ({
      protocolVersion,
      url,
      preferredTransport,
      additionalInterfaces = [],
      supportsAuthenticatedExtendedCard: extendedAgentCard,
      capabilities,
      ...card
    }) => ({
      ...card,
      supportedInterfaces: interfacesOf(
        [{ url, transport: preferredTransport }, ...additionalInterfaces],
        protocolVersion,
      ),
      capabilities: { ...capabilities, ...(extendedAgentCard === undefined ? {} : { extendedAgentCard }) },
    }),
  );

export const CARD: Type<AgentCard> = cardOf({ scheme: SECURITY_SCHEME, security: SECURITY });

/** The main interface first; it should be, and often is, among the additional ones, too. */
function interfacesOf(
  given: readonly { url: string; transport: string }[],
  protocolVersion: string,
): AgentInterface[] {
  const interfaces = new Map<string, AgentInterface>();
  for (const { url, transport } of given) {
    const key = `${transport} ${url}`;
    // 0.3 wrote its version with the patch, which does not count in 1.0.
    const [, version = protocolVersion] = /^(\d+\.\d+)\./.exec(protocolVersion) ?? [];
    if (url !== "" && !interfaces.has(key))
      interfaces.set(key, { url, protocolBinding: transport, protocolVersion: version });
  }
  return [...interfaces.values()];
}
