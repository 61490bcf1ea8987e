import * as fc from "fast-check";
import type { AgentCard, AgentSkill, OAuthFlows, SecurityScheme } from "../../protocol/index.ts";

/** Members that may be there. */
const SOME = { requiredKeys: [] as [] };

const word = fc.string({ minLength: 1, maxLength: 8 }).filter((text) => text.trim() !== "");
const key = fc.stringMatching(/^[a-z][a-z0-9]{0,5}$/);
const url = fc.webUrl({ validSchemes: ["https"] });
const mode = fc.constantFrom("text/plain", "application/json", "image/*", "text/html; charset=utf-8");
const scopes = fc.dictionary(key, word, { maxKeys: 2 });
const refreshable = fc.record({ refreshUrl: url }, SOME);

const flows: fc.Arbitrary<OAuthFlows> = fc
  .tuple(url, url, scopes, refreshable, fc.constantFrom({}, { pkceRequired: true }))
  .chain(([tokenUrl, other, granted, refresh, pkce]) => {
    const flow = { tokenUrl, scopes: granted, ...refresh };
    const more = Object.keys(granted).length > 0 ? { scopes: granted } : {};
    return fc.constantFrom<OAuthFlows>(
      { authorizationCode: { ...flow, authorizationUrl: other, ...pkce } },
      { clientCredentials: flow },
      { deviceCode: { ...flow, deviceAuthorizationUrl: other } },
      { implicit: { authorizationUrl: other, ...more } },
      { password: { tokenUrl, ...more } },
    );
  });

/** A security scheme of any of the five kinds. */
const securityScheme: fc.Arbitrary<SecurityScheme> = fc
  .tuple(
    word,
    url,
    flows,
    fc.constantFrom("query" as const, "header" as const, "cookie" as const),
    fc.record({ description: word }, SOME),
  )
  .chain(([name, place, oauth, location, about]) =>
    fc.constantFrom<SecurityScheme>(
      { apiKeySecurityScheme: { location, name, ...about } },
      { httpAuthSecurityScheme: { scheme: "Bearer", bearerFormat: "JWT", ...about } },
      { oauth2SecurityScheme: { flows: oauth, oauth2MetadataUrl: place, ...about } },
      { openIdConnectSecurityScheme: { openIdConnectUrl: place, ...about } },
      { mtlsSecurityScheme: about },
    ),
  );

const skill = (schemes: readonly string[]): fc.Arbitrary<Omit<AgentSkill, "id">> =>
  fc
    .tuple(
      fc.record({ name: word, description: word, tags: fc.array(word, { minLength: 1, maxLength: 2 }) }),
      fc.record(
        {
          examples: fc.array(word, { minLength: 1, maxLength: 2 }),
          inputModes: fc.array(mode, { minLength: 1, maxLength: 2 }),
          outputModes: fc.array(mode, { minLength: 1, maxLength: 2 }),
          securityRequirements: requirements(schemes),
        },
        SOME,
      ),
    )
    .map(([needed, more]) => ({ ...needed, ...more }));

const requirements = (
  schemes: readonly string[],
): fc.Arbitrary<NonNullable<AgentCard["securityRequirements"]>> =>
  fc.array(
    fc.record({
      schemes:
        schemes.length === 0
          ? fc.constant({})
          : fc.dictionary(fc.constantFrom(...schemes), fc.record({ list: fc.array(key, { maxLength: 2 }) })),
    }),
    { minLength: 1, maxLength: 2 },
  );

/** A card with which nothing is wrong, in its normal form: nothing empty but where that means something. */
export const agentCard: fc.Arbitrary<AgentCard> = fc
  .dictionary(key, securityScheme, { maxKeys: 3 })
  .chain((schemes) => {
    const names = Object.keys(schemes);
    return fc
      .tuple(
        fc.record({
          name: word,
          description: word,
          version: word,
          supportedInterfaces: fc.array(
            fc.record({
              url,
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
                    url,
                    fc.record(
                      {
                        description: word,
                        required: fc.constant(true),
                        params: fc.dictionary(key, fc.jsonValue({ maxDepth: 2 })) as fc.Arbitrary<never>,
                      },
                      SOME,
                    ),
                  )
                  .map(([uri, more]) => ({ uri: uri.replaceAll(",", "%2C"), ...more })),
                { selector: ({ uri }) => uri, minLength: 1, maxLength: 2 },
              ),
            },
            SOME,
          ),
          defaultInputModes: fc.array(mode, { minLength: 1, maxLength: 2 }),
          defaultOutputModes: fc.array(mode, { minLength: 1, maxLength: 2 }),
          skills: fc
            .array(skill(names), { minLength: 1, maxLength: 3 })
            .map((skills) => skills.map((one, at) => ({ id: `s${at}`, ...one }))),
        }),
        fc.record(
          {
            provider: fc.record({ url, organization: word }),
            documentationUrl: url,
            iconUrl: url,
            securityRequirements: requirements(names),
          },
          SOME,
        ),
      )
      .map(([needed, more]) => ({
        ...needed,
        ...more,
        ...(names.length > 0 ? { securitySchemes: schemes } : {}),
      }));
  });
