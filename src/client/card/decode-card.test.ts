import { describe, expect, it } from "vitest";
import { decodeCard } from "./decode-card.ts";

describe("an agent card of @a2a-js/sdk", () => {
  const scheme = { $case: "httpAuthSecurityScheme", value: { scheme: "bearer", bearerFormat: "" } };
  const flow = { $case: "clientCredentials", value: { tokenUrl: "t", scopes: {} } };
  const json = {
    name: "x",
    supportedInterfaces: [],
    securitySchemes: {
      token: { scheme },
      sso: { scheme: { $case: "oauth2SecurityScheme", value: { flows: { flow } } } },
    },
  };

  it("may have a security scheme and a flow as $case and value", async () => {
    const card = await decodeCard(json, "http://127.0.0.1/", false, "all");
    expect(card.securitySchemes).toMatchObject({
      token: { httpAuthSecurityScheme: { scheme: "bearer" } },
      sso: { oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl: "t" } } } },
    });
  });

  it("has no known scheme if the client accepts no deviations", async () => {
    const card = await decodeCard(json, "http://127.0.0.1/", false, "none");
    expect(card.securitySchemes?.["token"]).toEqual({});
  });
});
