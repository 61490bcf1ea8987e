/** Credentials for agents: the forms that a card asks for, and the credentials that the user has entered. */
export { AgentCredentialStore } from "./agent-credential-store.ts";
export { HEADERS_SCHEME, listSignInSchemes } from "./sign-in-schemes.ts";
