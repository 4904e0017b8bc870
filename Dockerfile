# The image of the service: wheels, installed by one stage and run by another, as an ordinary user.
# From a checkout, the wheels are built here. A release has them already: in its Dockerfile, WHEELS is `released`.

# A tag can change, a digest cannot: take a newer one with each release.
ARG PYTHON=python:3.13-slim@sha256:7c61056e61ac89e852de05f3dc6fa51a6dd2181797bceed46aa725dd7cb2cd3b
ARG WHEELS=built

FROM ${PYTHON} AS built
WORKDIR /src
COPY LICENSE README.md pyproject.toml ./
COPY distribution distribution
COPY advisor advisor
COPY sdk sdk
COPY app app
COPY migrations migrations
COPY docs/glossary.md docs/
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels ./advisor ./sdk .

FROM scratch AS released
COPY wheels /wheels

FROM ${WHEELS} AS wheels

FROM ${PYTHON} AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
COPY constraints.txt /
COPY --from=wheels /wheels /wheels
RUN apt-get update && apt-get install --yes --no-install-recommends binutils
# By their paths, so that no index is asked for a distribution of ours.
RUN python -m venv --without-pip /opt/aegis \
    && pip --python /opt/aegis/bin/python install --no-compile --constraint /constraints.txt /wheels/aegis_masking-*.whl \
        /wheels/aegis_masking_advisor-*.whl "$(echo /wheels/aegis_masking_server-*.whl)[telemetry]"
# Without tests and sources of libraries, the parts of them that nothing here imports, and symbols for debuggers: 281 MB
# become 197. Stripped, the libraries in *.libs could not be loaded.
RUN cd /opt/aegis/lib/python3.*/site-packages \
    && find . -depth -type d -name tests -exec rm -r {} + \
    && find . -type f -regex '.*\.\(pyi\|pyx\|pxd\|[ach]\)' -delete \
    && (cd scipy && rm -r cluster datasets differentiate fftpack integrate interpolate io misc ndimage odr signal stats) \
    && rm -r sqlalchemy/testing sqlalchemy/dialects/mssql sqlalchemy/dialects/mysql sqlalchemy/dialects/oracle \
    && find . -name '*.so' -not -path '*.libs/*' -exec strip --strip-unneeded {} +
# Bytecode of what its processes import (32 MB): with it they start in half the time, and none is written later.
RUN /opt/aegis/bin/python -c "import importlib, pkgutil, app, aegis_advisor; [importlib.import_module(module.name) \
    for package in (app, aegis_advisor) for module in pkgutil.walk_packages(package.__path__, package.__name__ + '.')]"

FROM ${PYTHON}
LABEL org.opencontainers.image.title="Aegis" org.opencontainers.image.licenses="Apache-2.0" \
    org.opencontainers.image.description="Picks the masking configuration that keeps the most predictive utility"
RUN useradd --system --uid 10001 --user-group --no-create-home --shell /usr/sbin/nologin aegis \
    && install --directory --owner aegis --group root --mode 770 /var/lib/aegis
COPY --from=build /opt/aegis /opt/aegis
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
