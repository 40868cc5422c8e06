package org.nemorelay.http.internal;

import org.eclipse.jetty.client.ProtocolHandler;
import org.eclipse.jetty.client.Request;
import org.eclipse.jetty.client.Response;
import org.eclipse.jetty.client.transport.HttpConversation;
import org.eclipse.jetty.client.transport.HttpExchange;
import org.eclipse.jetty.client.transport.HttpRequest;
import org.eclipse.jetty.http.HttpFields;

/**
 * Hands 1xx responses other than 101 to the exchange and waits for the next head. One that is no status at all, and one that
 * breaks off, is the exchange's failure.
 */
final class InterimResponses implements ProtocolHandler {
    @Override
    public String getName() {
        return "interim";
    }

    @Override
    public boolean accept(Request request, Response response) {
        int status = response.getStatus();
        return status < 200 && status != 101;
    }

    @Override
    public Response.Listener getResponseListener() {
        return new Response.Listener() {
            @Override
            public void onSuccess(Response response) {
                HttpConversation conversation = ((HttpRequest) response.getRequest()).getConversation();
                conversation.updateResponseListeners(null);
                HttpExchange exchange = conversation.getExchanges().peekLast();
                int status = response.getStatus();
                HttpFields headers = HttpFields.build(response.getHeaders()).asImmutable();
                exchange.getResponse().clearHeaders();
                exchange.resetResponse();
                if (status == 100) {
                    exchange.proceed(null, null);
                }
                if (response.getRequest() instanceof UpstreamClient.UpstreamRequest forwarded) {
                    if (status < 100) {
                        forwarded.exchange().badStatus(status);
                    } else {
                        forwarded.exchange().interim(status, headers);
                    }
                }
            }

            @Override
            public void onFailure(Response response, Throwable failure) {
                // The result goes to the exchange, which waits for it.
                ((HttpRequest) response.getRequest()).getConversation().updateResponseListeners(null);
            }
        };
    }
}
