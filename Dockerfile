# The image of the service: built with the build tools, run without them as an ordinary user.
# To build from an image that cannot change: --build-arg PYTHON=python:3.13-slim@sha256:DIGEST

ARG PYTHON=python:3.13-slim

FROM ${PYTHON} AS build
WORKDIR /src
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN python -m venv /opt/aegis
# The dependencies come first: they change less often than the code, so their layer stays cached.
COPY constraints.txt pyproject.toml README.md LICENSE ./
COPY advisor/pyproject.toml advisor/README.md advisor/
COPY sdk/pyproject.toml sdk/README.md sdk/
RUN /opt/aegis/bin/python -c "import tomllib; \
        server = tomllib.load(open('pyproject.toml', 'rb'))['project']; \
        wanted = server['dependencies'] + server['optional-dependencies']['telemetry']; \
        wanted += tomllib.load(open('advisor/pyproject.toml', 'rb'))['project']['dependencies']; \
        wanted += tomllib.load(open('sdk/pyproject.toml', 'rb'))['project']['dependencies']; \
        print('\n'.join(wanted))" > wanted.txt \
    && /opt/aegis/bin/pip install --constraint constraints.txt --requirement wanted.txt
COPY advisor advisor
COPY sdk sdk
COPY app app
COPY migrations migrations
COPY docs/glossary.md docs/
RUN /opt/aegis/bin/pip install --no-deps ./advisor ./sdk . && /opt/aegis/bin/pip uninstall --yes pip

FROM ${PYTHON}
RUN useradd --system --uid 10001 --user-group --no-create-home --shell /usr/sbin/nologin aegis \
    && install --directory --owner aegis --group root --mode 770 /var/lib/aegis
COPY --from=build /opt/aegis /opt/aegis
# The root file system may be read-only, so nothing is compiled at run time.
ENV PATH=/opt/aegis/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 AEGIS_HOST=0.0.0.0 AEGIS_PORT=8000
# By number: an engine can then prove that it is not root. OpenShift takes another, of the group root.
USER 10001:10001
WORKDIR /var/lib/aegis
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/readyz', timeout=2)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["aegis-server"]
# Only the API: the database and the workers run in other containers.
CMD ["serve", "--workers", "0"]
