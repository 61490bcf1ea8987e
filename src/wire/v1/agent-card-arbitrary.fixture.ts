import * as fc from "fast-check";
import type { AgentCard, AgentSkill, OAuthFlows, SecurityScheme } from "../../protocol/index.ts";
import { arbitraryUrl } from "../../../test/support/arbitrary-url.ts";

/** Options of `fc.record` that make every member optional. */
const FAST_CHECK_ALL_KEYS_OPTIONAL_OPTIONS = { requiredKeys: [] as [] };

const textArbitrary = fc.string({ minLength: 1, maxLength: 8 }).filter((text) => text.trim() !== "");
const mapKeyArbitrary = fc.stringMatching(/^[a-z][a-z0-9]{0,5}$/);
const mediaTypeArbitrary = fc.constantFrom(
  "text/plain",
  "application/json",
  "image/*",
  "text/html; charset=utf-8",
);
const oauthScopesArbitrary = fc.dictionary(mapKeyArbitrary, textArbitrary, { maxKeys: 2 });
const optionalRefreshUrlMemberArbitrary = fc.record(
  { refreshUrl: arbitraryUrl },
  FAST_CHECK_ALL_KEYS_OPTIONAL_OPTIONS,
);

const oauthFlowsArbitrary: fc.Arbitrary<OAuthFlows> = fc
  .tuple(
    arbitraryUrl,
    arbitraryUrl,
    oauthScopesArbitrary,
    optionalRefreshUrlMemberArbitrary,
    fc.constantFrom({}, { pkceRequired: true }),
  )
  .chain(([tokenUrl, otherUrl, scopes, refresh, pkce]) => {
    const flow = { tokenUrl, scopes, ...refresh };
    const optionalMembers = Object.keys(scopes).length > 0 ? { scopes } : {};
    return fc.constantFrom<OAuthFlows>(
      { authorizationCode: { ...flow, authorizationUrl: otherUrl, ...pkce } },
      { clientCredentials: flow },
      { deviceCode: { ...flow, deviceAuthorizationUrl: otherUrl } },
      { implicit: { authorizationUrl: otherUrl, ...optionalMembers } },
      { password: { tokenUrl, ...optionalMembers } },
    );
  });

/** Generates a security scheme of any of the five kinds. */
const securitySchemeArbitrary: fc.Arbitrary<SecurityScheme> = fc
  .tuple(
    textArbitrary,
    arbitraryUrl,
    oauthFlowsArbitrary,
    fc.constantFrom("query" as const, "header" as const, "cookie" as const),
    fc.record({ description: textArbitrary }, FAST_CHECK_ALL_KEYS_OPTIONAL_OPTIONS),
  )
  .chain(([name, url, oauth, location, description]) =>
    fc.constantFrom<SecurityScheme>(
      { apiKeySecurityScheme: { location, name, ...description } },
      { httpAuthSecurityScheme: { scheme: "Bearer", bearerFormat: "JWT", ...description } },
      { oauth2SecurityScheme: { flows: oauth, oauth2MetadataUrl: url, ...description } },
      { openIdConnectSecurityScheme: { openIdConnectUrl: url, ...description } },
      { mtlsSecurityScheme: description },
    ),
  );

const createSkillArbitrary = (schemes: readonly string[]): fc.Arbitrary<Omit<AgentSkill, "id">> =>
  fc
    .tuple(
      fc.record({
        name: textArbitrary,
        description: textArbitrary,
        tags: fc.array(textArbitrary, { minLength: 1, maxLength: 2 }),
      }),
      fc.record(
        {
          examples: fc.array(textArbitrary, { minLength: 1, maxLength: 2 }),
          inputModes: fc.array(mediaTypeArbitrary, { minLength: 1, maxLength: 2 }),
          outputModes: fc.array(mediaTypeArbitrary, { minLength: 1, maxLength: 2 }),
          securityRequirements: createSecurityRequirementsArbitrary(schemes),
        },
        FAST_CHECK_ALL_KEYS_OPTIONAL_OPTIONS,
      ),
    )
    .map(([requiredMembers, optionalMembers]) => ({ ...requiredMembers, ...optionalMembers }));

const createSecurityRequirementsArbitrary = (
  schemes: readonly string[],
): fc.Arbitrary<NonNullable<AgentCard["securityRequirements"]>> =>
  fc.array(
    fc.record({
      schemes:
        schemes.length === 0
          ? fc.constant({})
          : fc.dictionary(
              fc.constantFrom(...schemes),
              fc.record({ list: fc.array(mapKeyArbitrary, { maxLength: 2 }) }),
            ),
    }),
    { minLength: 1, maxLength: 2 },
  );

/**
 * Generates a valid agent card in its normal form, which has an empty value only where the value has a
 * meaning.
 */
export const agentCardArbitrary: fc.Arbitrary<AgentCard> = fc
  .dictionary(mapKeyArbitrary, securitySchemeArbitrary, { maxKeys: 3 })
  .chain((schemes) => {
    const names = Object.keys(schemes);
    return fc
      .tuple(
        fc.record({
          name: textArbitrary,
          description: textArbitrary,
          version: textArbitrary,
          supportedInterfaces: fc.array(
            fc.record({
              url: arbitraryUrl,
              protocolBinding: fc.constantFrom("JSONRPC", "HTTP+JSON", "urn:x:own"),
              protocolVersion: fc.constant("1.0"),
            }),
            { minLength: 1, maxLength: 2 },
          ),
          capabilities: fc.record(
            {
              streaming: fc.boolean(),
              pushNotifications: fc.boolean(),
              extendedAgentCard: fc.boolean(),
              extensions: fc.uniqueArray(
                fc
                  .tuple(
                    arbitraryUrl,
                    fc.record(
                      {
                        description: textArbitrary,
                        required: fc.constant(true),
                        params: fc.dictionary(
                          mapKeyArbitrary,
                          fc.jsonValue({ maxDepth: 2 }),
                        ) as fc.Arbitrary<never>,
                      },
                      FAST_CHECK_ALL_KEYS_OPTIONAL_OPTIONS,
                    ),
                  )
                  .map(([uri, optionalMembers]) => ({ uri: uri.replaceAll(",", "%2C"), ...optionalMembers })),
                { selector: ({ uri }) => uri, minLength: 1, maxLength: 2 },
              ),
            },
            FAST_CHECK_ALL_KEYS_OPTIONAL_OPTIONS,
          ),
          defaultInputModes: fc.array(mediaTypeArbitrary, { minLength: 1, maxLength: 2 }),
          defaultOutputModes: fc.array(mediaTypeArbitrary, { minLength: 1, maxLength: 2 }),
          skills: fc
            .array(createSkillArbitrary(names), { minLength: 1, maxLength: 3 })
            .map((skills) => skills.map((one, index) => ({ id: `s${index}`, ...one }))),
        }),
        fc.record(
          {
            provider: fc.record({ url: arbitraryUrl, organization: textArbitrary }),
            documentationUrl: arbitraryUrl,
            iconUrl: arbitraryUrl,
            securityRequirements: createSecurityRequirementsArbitrary(names),
          },
          FAST_CHECK_ALL_KEYS_OPTIONAL_OPTIONS,
        ),
      )
      .map(([requiredMembers, optionalMembers]) => ({
        ...requiredMembers,
        ...optionalMembers,
        ...(names.length > 0 ? { securitySchemes: schemes } : {}),
      }));
  });
