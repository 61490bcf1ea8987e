import { SESSION_SERVICES_UNDER_TEST } from "./session-service.contract.ts";
import { defineSessionsOverA2aContract } from "./sessions-over-a2a.contract.ts";

for (const sessions of SESSION_SERVICES_UNDER_TEST) defineSessionsOverA2aContract(sessions);
