package interop;

import io.a2a.server.PublicAgentCard;
import io.a2a.spec.AgentCapabilities;
import io.a2a.spec.AgentCard;
import io.a2a.spec.AgentInterface;
import io.a2a.spec.AgentSkill;
import io.a2a.spec.HTTPAuthSecurityScheme;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Produces;
import java.util.List;
import java.util.Map;

@ApplicationScoped
public class AgentCardProducer {
  @Produces
  @PublicAgentCard
  public AgentCard createCard() {
    String url = Main.getUrl();
    AgentCard.Builder card = new AgentCard.Builder()
        .name("Obedient")
        .description("Does as it is told.")
        .version("1")
        .protocolVersion("0.3.0")
        .url(url)
        .preferredTransport("JSONRPC")
        .additionalInterfaces(List.of(
            new AgentInterface("JSONRPC", url),
            new AgentInterface("HTTP+JSON", url)))
        .capabilities(new AgentCapabilities.Builder().streaming(true).pushNotifications(true).build())
        .defaultInputModes(List.of("text/plain"))
        .defaultOutputModes(List.of("text/plain"))
        .skills(List.of(new AgentSkill.Builder()
            .id("obey").name("Obey").description("Obeys").tags(List.of("test")).build()));
    if (BearerTokenFilter.TOKEN == null) return card.build();
    return card
        .securitySchemes(Map.of("token", new HTTPAuthSecurityScheme.Builder().scheme("bearer").build()))
        .security(List.of(Map.of("token", List.of())))
        .build();
  }
}
