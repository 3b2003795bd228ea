/* A viewer on libvncclient that the tests drive: it knows nothing of the
 * server but RFB.
 *
 * usage: peer PORT ENCODINGS BITS
 *
 * Prints one line for each thing that happens:
 *   picture W H SUM   after each update; SUM is FNV-1a over R, G, B
 *   bell
 *   cut TEXT
 *   cursor W H X Y
 * and reads commands:
 *   pointer X Y MASK
 *   key SYM DOWN
 *   paste TEXT
 *   resize W H
 * It ends at the end of its input. PEER_PASSWORD answers the question. */
#include <rfb/rfbclient.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <unistd.h>

static void say_nothing(const char *f, ...) {}

static unsigned sample_of(unsigned pixel, unsigned shift, unsigned max) { return (pixel >> shift) & max; }

static void updated(rfbClient *c)
{
    uint32_t h = 2166136261u;
    long n = (long)c->width * c->height;
    rfbPixelFormat *f = &c->format;
    for (long i = 0; i < n; i++) {
        unsigned p = f->bitsPerPixel == 32   ? ((uint32_t *)c->frameBuffer)[i]
                     : f->bitsPerPixel == 16 ? ((uint16_t *)c->frameBuffer)[i]
                                             : ((uint8_t *)c->frameBuffer)[i];
        h = (h ^ sample_of(p, f->redShift, f->redMax)) * 16777619u;
        h = (h ^ sample_of(p, f->greenShift, f->greenMax)) * 16777619u;
        h = (h ^ sample_of(p, f->blueShift, f->blueMax)) * 16777619u;
    }
    printf("picture %d %d %08x\n", c->width, c->height, h);
}

static void bell(rfbClient *c) { printf("bell\n"); }
static void cut(rfbClient *c, const char *text, int n) { printf("cut %.*s\n", n, text); }
static void cursor(rfbClient *c, int x, int y, int w, int h, int bpp) { printf("cursor %d %d %d %d\n", w, h, x, y); }
static char *password(rfbClient *c) { return strdup(getenv("PEER_PASSWORD") ? getenv("PEER_PASSWORD") : ""); }

static int command(rfbClient *c)
{
    char line[512];
    int a, b, m;
    /* Unbuffered, so that select sees what is left. */
    int n = 0;
    while (n < (int)sizeof line - 1) {
        if (read(0, line + n, 1) != 1) return 0;
        if (line[n] == '\n') break;
        n++;
    }
    line[n] = 0;
    if (sscanf(line, "pointer %d %d %d", &a, &b, &m) == 3) SendPointerEvent(c, a, b, m);
    else if (sscanf(line, "key %i %d", &a, &b) == 2) SendKeyEvent(c, a, b);
    else if (sscanf(line, "resize %d %d", &a, &b) == 2) SendExtDesktopSize(c, a, b);
    else if (!strncmp(line, "paste ", 6)) SendClientCutText(c, line + 6, n - 6);
    return 1;
}

int main(int n, char **v)
{
    if (n != 4) return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!getenv("PEER_LOG")) rfbClientLog = rfbClientErr = say_nothing;
    int bits = atoi(v[3]);
    rfbClient *c = bits == 32 ? rfbGetClient(8, 3, 4) : rfbGetClient(5, 3, 2);
    if (bits == 32) {
        c->format.redShift = 16;
        c->format.greenShift = 8;
        c->format.blueShift = 0;
        c->format.depth = 24;
    } else {
        c->format.redMax = c->format.blueMax = 31;
        c->format.greenMax = 63;
        c->format.redShift = 11;
        c->format.greenShift = 5;
        c->format.blueShift = 0;
        c->format.depth = 16;
    }
    c->appData.encodingsString = v[2];
    c->appData.useRemoteCursor = TRUE;
    c->canHandleNewFBSize = TRUE;
    c->FinishedFrameBufferUpdate = updated;
    c->Bell = bell;
    c->GotXCutText = cut;
    c->GotCursorShape = cursor;
    c->GetPassword = password;
    c->serverHost = strdup("127.0.0.1");
    c->serverPort = atoi(v[1]);
    if (!rfbInitClient(c, NULL, NULL)) {
        printf("refused\n");
        return 1;
    }
    for (;;) {
        fd_set s;
        FD_ZERO(&s);
        FD_SET(0, &s);
        FD_SET(c->sock, &s);
        struct timeval now = {0, 0};
        if (select(c->sock + 1, &s, NULL, NULL, c->buffered ? &now : NULL) < 0) return 1;
        if ((c->buffered || FD_ISSET(c->sock, &s)) && !HandleRFBServerMessage(c)) {
            printf("closed\n");
            return 0;
        }
        if (FD_ISSET(0, &s) && !command(c)) return 0;
    }
}
